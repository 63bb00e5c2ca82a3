import { z } from 'zod'
import { applicationName } from './applications.ts'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'

/** How a browser reaches gateways' pages: by names that lead to the hub, or by ports of the hub. */
const gatewayWay = z.enum(['names', 'ports'])
export type GatewayWay = z.infer<typeof gatewayWay>

/**
 * A one-use ticket, valid for 30 s, that hands a signed-in person over to the origin of the gateway, or of one of its
 * applications: a form posts `ticket` (and optionally `path`) to `action`. A browser that does not reach `action` asks
 * again with `otherWay` as `way`, where there is one.
 */
export const gatewayUiTicket = call({
  method: 'POST',
  path: '/v1/gateway/:id/ui-ticket',
  params: z.strictObject({ id: gatewayId }),
  query: z.strictObject({ application: applicationName.optional(), way: gatewayWay.optional() }),
  errors: [
    'application_not_found',
    'application_role_required',
    'gateway_not_found',
    'gateway_origin_required',
    'gateway_port_unavailable',
    'gateway_ports_exhausted',
    'origin_not_allowed',
    'vpn_disabled',
  ],
  response: z.object({ action: z.url(), ticket: z.string(), otherWay: gatewayWay.nullable() }),
})
