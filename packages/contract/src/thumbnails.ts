/** The small pictures of several detections in one call: a wall of pictures shows dozens at a time. */
import { z } from 'zod'
import { call } from './call.ts'
import { THUMBNAIL_NAMES_MAX, THUMBNAILS_AT_ONCE } from './constants.ts'
import { gatewayId } from './gateways.ts'

const named = z.string().transform((name, context) => {
  const [gateway = '', detection = '', ...rest] = name.split('/')
  const id = decoded(detection)
  if (rest.length === 0 && gatewayId.safeParse(gateway).success && id !== '') return { gatewayId: gateway, id }
  context.addIssue({ code: 'custom', message: 'Must be gateway/detection' })
  return z.NEVER
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/**
 * JPEGs as base64. `of` names the detections: `gateway/detection`, the detection's id percent-encoded, separated by
 * commas. A detection without a picture, or one that the caller may not see, is left out.
 */
export const readThumbnails = call({
  method: 'GET',
  path: '/v1/hub/thumbnails',
  query: z.strictObject({
    of: z
      .string()
      .max(THUMBNAIL_NAMES_MAX)
      .transform((text) => text.split(','))
      .pipe(z.array(named).max(THUMBNAILS_AT_ONCE, `At most ${THUMBNAILS_AT_ONCE} pictures`)),
  }),
  response: z.array(z.object({ gatewayId, id: z.string(), jpeg: z.string() })),
})
