import * as contract from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import type { Updates } from './updates.ts'

/** Versions of the fleet, and requests for updates. */
export function updateRoutes(app: FastifyInstance, { updates }: { updates: Updates }): void {
  mount(app, contract.getVersions, () => updates.list())
  mount(app, contract.updateGateways, ({ body, caller, sourceIp }) =>
    updates.ask(body.gatewayIds, { caller, sourceIp }),
  )
  mount(app, contract.resumeRollout, ({ caller, sourceIp }) => updates.resume({ caller, sourceIp }))
}
