import type { FoundCamera } from '@hedgerow/contract/device-interface'
import { Refusal } from '../../calls/errors.ts'
import { findOnvifCameras, type FindOptions } from '../../cameras/onvif/find.ts'
import { oneAtATime } from './one-at-a-time.ts'

/** The search for ONVIF cameras. Throws `Refusal`. */
export function createCameraSearch(): (options: FindOptions) => Promise<FoundCamera[]> {
  return oneAtATime(async (options: FindOptions) => {
    const found = await findOnvifCameras(options)
    if (!found) throw new Refusal('invalid_request', { fieldErrors: { at: 'This is no address.' } })
    return found.map(({ host, streams, problem = null }) => ({
      host,
      problem,
      streams: streams.map(({ url, ...stream }) => ({ ...stream, url: url.href })),
    }))
  })
}
