/**
 * The pictures of a detection that its gateway stores, besides the thumbnail: the snapshot and the clip, pulled through
 * the tunnel.
 */
import { z } from 'zod'
import { call } from './call.ts'
import { gatewayId } from './gateways.ts'

const params = z.strictObject({ id: gatewayId, detectionId: z.string().min(1).max(100) })
const common = [
  'vpn_disabled',
  'gateway_not_found',
  'detection_not_found',
  'gateway_takes_no_commands',
  'gateway_unreachable',
  'pictures_busy',
] as const

/**
 * The picture of the detection in full size; pulled once for all viewers. `boxed`: with the object's box drawn, if its
 * source can.
 */
export const readDetectionSnapshot = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/detections/:detectionId/snapshot',
  params,
  query: z.strictObject({ boxed: z.enum(['true', 'false']).optional() }),
  errors: [...common, 'snapshot_unavailable'],
  media: 'image/jpeg',
  response: null,
})

/** The clip of the detection, with ranges (RFC 9110 §14.2), streamed. */
export const readDetectionClip = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/detections/:detectionId/clip',
  params,
  errors: [...common, 'clip_not_finished', 'clip_unavailable', 'range_not_satisfiable'],
  media: 'video/mp4',
  response: null,
})

/**
 * An address of the clip that needs no header, for a `<video>` and for a download: `path` of this hub. It works for
 * this clip only, for 30 minutes, and no longer than the caller's session.
 */
export const createClipLink = call({
  method: 'POST',
  path: '/v1/hub/gateways/:id/detections/:detectionId/clip-link',
  params,
  errors: ['vpn_disabled', 'gateway_not_found', 'detection_not_found', 'gateway_takes_no_commands'],
  response: z.object({ path: z.string(), expiresAt: z.iso.datetime() }),
})

/** Like `readDetectionClip`, by the address that `createClipLink` returned. */
export const readClipByLink = call({
  method: 'GET',
  path: '/v1/hub/clips/:link',
  params: z.strictObject({ link: z.string().regex(/^[\w-]{43}$/, 'This is not an address of a clip') }),
  errors: [
    ...common,
    'clip_not_finished',
    'clip_unavailable',
    'range_not_satisfiable',
    'clip_link_invalid',
    'session_ended',
  ],
  media: 'video/mp4',
  response: null,
})
