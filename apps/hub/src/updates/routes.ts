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
  mount(app, contract.updateGateways, ({ body, caller, sourceIp }) =>
    updates.ask(body.gatewayIds, { caller, sourceIp }),
  )
  mount(app, contract.stopRollout, ({ caller, sourceIp }) => updates.stopRollout({ caller, sourceIp }))
  mount(app, contract.skipUpdate, ({ body, caller, sourceIp }) => updates.skip(body.gatewayId, { caller, sourceIp }))
  for (const call of [contract.editSiteUpdates, contract.saveSiteUpdates])
    mount(app, call, ({ body, caller, sourceIp }) => updates.saveSite(body, { caller, sourceIp }))
  mount(app, contract.resumeRollout, ({ caller, sourceIp }) => updates.resume({ caller, sourceIp }))
}
