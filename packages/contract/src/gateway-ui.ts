import { z } from 'zod'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'

/**
 * A one-use ticket, valid for 30 s, that hands a signed-in person over to the gateway's own origin: a form posts
 * `ticket` (and optionally `path`) to `action`.
 */
export const gatewayUiTicket = call({
  method: 'POST',
  path: '/v1/gateway/:id/ui-ticket',
  params: z.strictObject({ id: gatewayId }),
  errors: [
    'gateway_not_found',
    'gateway_origin_required',
    'gateway_port_unavailable',
    'gateway_ports_exhausted',
    'origin_not_allowed',
    'vpn_disabled',
  ],
  response: z.object({ action: z.url(), ticket: z.string() }),
})
