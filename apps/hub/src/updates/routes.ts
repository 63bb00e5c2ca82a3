import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import type { Updates } from './updates.ts'

/** Versions of the fleet, and requests for updates. */
export function updateRoutes(app: FastifyInstance, { updates }: { updates: Updates }): void {
  mount(app, contract.getVersions, async ({ query, reply }) => {
    const page = pageFrom(query, ['string'])
    const all = await updates.list(query.q)
    // Sorted here, because each database sorts names in its own way. Names are unique.
    const sorted = all.gateways.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const last = page.after?.[0]
    const rest = last === undefined ? sorted : sorted.filter(({ name }) => name > last)
    return { ...all, gateways: sendPage(reply, rest, page, ({ name }) => [name]) }
  })
  mount(app, contract.updateGateways, ({ body, act }) => updates.request(body.gatewayIds, act))
  mount(app, contract.stopRollout, ({ act }) => updates.stopRollout(act))
  mount(app, contract.skipUpdate, ({ body, act }) => updates.skip(body.gatewayId, act))
  for (const call of [contract.editSiteUpdates, contract.saveSiteUpdates])
    mount(app, call, ({ body, act }) => updates.saveSite(body, act))
  mount(app, contract.resumeRollout, ({ act }) => updates.resume(act))
}
