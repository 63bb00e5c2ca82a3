import type { Logger } from 'pino'
import { lumaOf } from '@hedgerow/vision'
import { CameraError } from '../../cameras/camera-error.ts'
import { createFreezeWatch, type FreezeWatch, type Frozen } from '../../cameras/freeze.ts'
import { PICTURE_BYTES_MAX } from './thumbnail.ts'
import type { FrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'

export type FrozenCameras = {
  /** Looks at the newest picture of each of these cameras, one after the other. Never rejects. */
  look(cameras: readonly string[]): Promise<void>
  of(camera: string): Frozen | undefined
}

/**
 * Tells which of Frigate's cameras are frozen. Frigate counts the pictures of a camera, and not whether they differ, so
 * their newest ones are compared.
 */
export function createFrozenCameras(options: {
  client: Pick<FrigateClient, 'readWhole'>
  clock: () => number
  log: Logger
  signal: AbortSignal
}): FrozenCameras {
  const { client, clock, log, signal } = options
  let watches: ReadonlyMap<string, FreezeWatch> = new Map()

  async function lookAt(camera: string, watch: FreezeWatch): Promise<void> {
    // The best quality, because a worse one takes noise away.
    const path = `/api/${encodeURIComponent(camera)}/latest.jpg?quality=100`
    const { bytes, headers } = await client.readWhole(path, { maxBytes: PICTURE_BYTES_MAX, signal })
    if (headers['x-frigate-offline'] === 'true') return
    // A device that only reports needs no decoder before.
    const { decodeJpeg } = await import('../../cameras/decode.ts')
    const luma = lumaOf(await decodeJpeg(bytes))
    watch.keyFrame()
    watch.see(luma, clock())
  }

  return {
    async look(cameras) {
      watches = new Map(cameras.map((camera) => [camera, watches.get(camera) ?? createFreezeWatch()]))
      for (const [camera, watch] of watches) {
        if (signal.aborted) return
        const wasFrozen = watch.frozen() !== undefined
        await lookAt(camera, watch).catch((error: unknown) => {
          if (!(error instanceof FrigateError) && !(error instanceof CameraError))
            log.error({ err: error, camera }, 'a picture of Frigate cannot be compared')
        })
        const isFrozen = watch.frozen() !== undefined
        if (isFrozen !== wasFrozen)
          log.warn({ camera }, isFrozen ? 'a camera of Frigate is frozen' : 'the picture of a camera changes again')
      }
    },
    of: (camera) => watches.get(camera)?.frozen(),
  }
}
