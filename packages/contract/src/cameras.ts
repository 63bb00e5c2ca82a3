import { z } from 'zod'
import { call } from './call.ts'
import { incidentId } from './detections.ts'
import { oneLine } from './fields.ts'
import { gatewayId, protection } from './gateways.ts'
import { cameraState } from './heartbeats.ts'
import { siteName } from './sites.ts'

export const camera = z.object({
  gatewayId,
  gatewayName: z.string(),
  location: z.string(),
  site: siteName.nullable(),
  name: z.string(),
  /** The state that its gateway reported, or `offline` while the gateway is away. */
  state: cameraState,
  fps: z.number(),
  /** What is wrong with it, in a sentence, such as a wrong password; null when nothing is known. */
  problem: z.string().nullable(),
  /** Whether its gateway would detect and deter what it sees now. */
  protection,
  /** The newest one that learning does not hold back. */
  lastIncident: z
    .object({
      id: incidentId,
      label: z.string(),
      severity: z.enum(['alert', 'detection']),
      startedAt: z.iso.datetime(),
    })
    .nullable(),
})
export type Camera = z.output<typeof camera>

/** The cameras of the gateways that the caller may see, by the names of both, 2 before 10; at most 2,000. */
export const listCameras = call({ method: 'GET', path: '/v1/hub/cameras', response: z.array(camera) })

/**
 * The newest picture of a camera, pulled through the tunnel while somebody looks: once for all viewers, and at most
 * once a second. `X-Picture-Age` says how old it is, in milliseconds.
 */
export const readCameraPicture = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/cameras/:camera/latest',
  params: z.strictObject({ id: gatewayId, camera: oneLine(200).min(1) }),
  errors: [
    'vpn_disabled',
    'gateway_not_found',
    'gateway_takes_no_commands',
    'gateway_unreachable',
    'picture_unavailable',
  ],
  media: 'image/jpeg',
  response: null,
})
