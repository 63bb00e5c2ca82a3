import { z } from 'zod'
import { applicationName } from './applications.ts'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'

/**
 * A one-use ticket, valid for 30 s, that hands a signed-in person over to the origin of the gateway, or of one of its
 * applications: a form posts `ticket` (and optionally `path`) to `action`.
 */
export const gatewayUiTicket = call({
  method: 'POST',
  path: '/v1/gateway/:id/ui-ticket',
  params: z.strictObject({ id: gatewayId }),
  query: z.strictObject({ application: applicationName.optional() }),
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
  response: z.object({ action: z.url(), ticket: z.string() }),
})
