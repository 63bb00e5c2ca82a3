/** The usual pictures of the cameras, kept on the device, and one picture from before and after a fault. */
import { createHash } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { resampleRgb, type RgbImage } from '@hedgerow/vision'
import type { Logger } from 'pino'
import { z } from 'zod'
import { DataFileError, makePrivateDirectory, readJsonFile, writeDurably } from '../kernel/durable-file.ts'
import type { Frame } from './camera.ts'
import { encodeJpeg, lookedAtSize } from './decode.ts'
import { createViewWatch, usualViews, type ViewFault } from './view-watch.ts'

export type CameraView = {
  see(frame: Frame): void
  fault(): ViewFault | undefined
  /** As JPEG: the last usual picture, and the one with which the fault was told; undefined without a fault. */
  pictures(): { before: Buffer | undefined; after: Buffer } | undefined
  /** What it sees now becomes the usual picture. */
  accept(): void
  stop(): Promise<void>
}

const SAVED_EVERY_MS = 3_600_000
/** Files of cameras that are no longer there are deleted after this time. */
const KEPT_MS = 30 * 24 * 3_600_000
const PICTURE_SIDE = 480
const viewFile = z.strictObject({ usual: usualViews, before: z.base64().max(200_000).optional() })

/** `address`: with another one, it is another camera. */
type CameraPlace = { name: string; address: string }

/** The same for the same camera at the same address; tells neither. */
export const cameraId = ({ name, address }: CameraPlace): string =>
  createHash('sha256')
    .update(JSON.stringify([name, address]))
    .digest('hex')
    .slice(0, 32)

export async function openView(
  camera: CameraPlace,
  { dataDir, clock, log }: { dataDir: string; clock: () => number; log: Logger },
): Promise<CameraView> {
  const folder = join(dataDir, 'views')
  await makePrivateDirectory(folder)
  await deleteOld(folder, clock() - KEPT_MS)
  const path = join(folder, `${cameraId(camera)}.json`)
  const kept = await readJsonFile(path, viewFile).catch((error: unknown) => {
    if (!(error instanceof DataFileError)) throw error
    log.warn({ camera: camera.name }, 'the usual pictures of a camera are damaged, and are learnt anew')
  })
  let watch = createViewWatch(kept?.usual)
  let before: Buffer | undefined = kept?.before === undefined ? undefined : Buffer.from(kept.before, 'base64')
  let after: Buffer | undefined
  /** The last usual picture, small. */
  let usual: RgbImage | undefined
  let savedAt = clock()
  let work = Promise.resolve()

  function run(action: () => Promise<void>): void {
    work = work.then(action).catch((error: unknown) => log.error({ err: error, camera: camera.name }, 'a view failed'))
  }

  async function save(): Promise<void> {
    if (usual) before = await encodeJpeg(usual)
    const content = { usual: watch.usual(), ...(before && { before: before.toString('base64') }) }
    await writeDurably(path, JSON.stringify(content))
  }

  return {
    see(frame) {
      const wasTold = watch.fault()
      if (watch.see(frame, clock())) usual = smallerOf(frame.image)
      const fault = watch.fault()
      if (fault !== wasTold)
        log.warn({ camera: camera.name, fault }, fault ? 'a camera sees something else' : 'a camera sees as usual')
      if (fault && !wasTold) {
        const image = smallerOf(frame.image)
        run(async () => void (after = await encodeJpeg(image)))
      }
      if (fault && wasTold) return
      if (!fault) after = undefined
      if (fault === wasTold && clock() - savedAt < SAVED_EVERY_MS) return
      savedAt = clock()
      run(save)
    },
    fault: () => watch.fault(),
    pictures: () => (watch.fault() && after ? { before, after } : undefined),
    accept() {
      watch = createViewWatch()
      after = undefined
      run(save)
    },
    async stop() {
      run(save)
      await work
    },
  }
}

async function deleteOld(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    const file = await stat(path).catch(() => undefined)
    if (file && file.mtimeMs < before) await rm(path, { force: true })
  }
}

function smallerOf(image: RgbImage): RgbImage {
  const { width, height } = lookedAtSize(image, PICTURE_SIDE)
  return resampleRgb(image, { x: 0, y: 0, width: image.width, height: image.height }, width, height)
}
