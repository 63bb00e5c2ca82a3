import { gatewayUiTicket } from '@hedgerow/contract'
import type { FastifyInstance } from 'fastify'
import { mount } from '../http/mount.ts'
import type { GatewayProxy } from './gateway-proxy.ts'

/** The call by which a page of the hub gets a ticket for a gateway's origin. */
export function gatewayProxyRoutes(app: FastifyInstance, { ui }: { ui: Pick<GatewayProxy, 'issueTicket'> }): void {
  mount(app, gatewayUiTicket, ({ caller, params, query, raw }) =>
    ui.issueTicket(caller, { gatewayId: params.id, ...query }, raw.headers),
  )
}
