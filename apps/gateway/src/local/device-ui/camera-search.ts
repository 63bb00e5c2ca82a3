import type { FoundCamera } from '@hedgerow/contract/device-interface'
import { Refusal } from '../../calls/errors.ts'
import { findOnvifCameras, type FindOptions } from '../../cameras/onvif/find.ts'

/** The search for ONVIF cameras, one at a time. Throws `Refusal`. */
export function createCameraSearch(): (options: FindOptions) => Promise<FoundCamera[]> {
  let isSearching = false
  return async (options) => {
    if (isSearching) throw new Refusal('too_many_requests', { message: 'A search is under way. Wait for its end.' })
    isSearching = true
    try {
      const found = await findOnvifCameras(options)
      if (!found) throw new Refusal('invalid_request', { fieldErrors: { at: 'This is no address.' } })
      return found.map(({ host, streams, problem = null }) => ({
        host,
        problem,
        streams: streams.map(({ url, ...stream }) => ({ ...stream, url: url.href })),
      }))
    } finally {
      isSearching = false
    }
  }
}
