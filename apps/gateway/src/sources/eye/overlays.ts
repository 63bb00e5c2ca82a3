/**
 * What the cameras write into their pictures, such as a clock with tenths: nothing there wakes the eye. A camera's page
 * tells it, and a person may say for good that the gateway looks there. A model's looks around see it all the same.
 */
import { join } from 'node:path'
import { box } from '@hedgerow/contract'
import { createOverlayFinder, intersectionOf, type Box, type OverlayFinder, type Plane } from '@hedgerow/vision'
import type { Logger } from 'pino'
import { z } from 'zod'
import { cameraId } from '../../cameras/views.ts'
import { DataFileError, readJsonFile, writeDurably } from '../../kernel/durable-file.ts'

export type CameraOverlays = {
  see(luma: Plane, atMs: number): void
  boxes(): readonly Box[]
  /** Whether something that moves is nothing but an overlay. */
  covers(moving: Box): boolean
  /** An object that moves is there: what looks like text may be its pattern. */
  meet(object: Box): void
  /** Looks again at all that was found, for good. */
  lookAgain(): void
}

export type Overlays = { of(camera: string): CameraOverlays; stop(): Promise<void> }

/** A region of movement may end so far outside, in shares of the picture. */
const AROUND = 0.03
/** An overlay ends when so many minutes in a row do not show it. */
const MINUTES_WITHOUT = 3
const KEPT_MAX = 32
const kept = z.strictObject({ found: z.array(box).max(KEPT_MAX), refused: z.array(box).max(KEPT_MAX) })
type OverlayPlaces = z.output<typeof kept>

/** `cameras`: their addresses by name. What is kept of others is deleted. */
export async function openOverlays(
  cameras: Readonly<Record<string, string>>,
  { dataDir, log }: { dataDir: string; log: Logger },
): Promise<Overlays> {
  const path = join(dataDir, 'overlays.json')
  const read = await readJsonFile(path, z.record(z.string(), kept)).catch((error: unknown) => {
    if (!(error instanceof DataFileError)) throw error
    log.warn('the file of what cameras write into their pictures is damaged; it is found anew')
  })
  const byCamera = new Map<string, OverlayPlaces>()
  for (const [name, address] of Object.entries(cameras)) {
    byCamera.set(name, read?.[cameraId({ name, address })] ?? { found: [], refused: [] })
  }
  let work = Promise.resolve()

  function change(name: string, next: OverlayPlaces): void {
    byCamera.set(name, next)
    const entries = [...byCamera].filter(([, { found, refused }]) => found.length + refused.length > 0)
    const all = entries.map(([camera, one]) => [cameraId({ name: camera, address: cameras[camera]! }), one] as const)
    const text = JSON.stringify(Object.fromEntries(all))
    work = work
      .then(() => writeDurably(path, text))
      .catch((error: unknown) => log.error({ err: error }, 'overlays could not be stored'))
  }

  function overlaysOf(name: string): CameraOverlays {
    let finder: OverlayFinder | undefined
    let size = ''
    /** For each kept one, the minutes since it was last found. */
    const minutes = new Map<Box, number>()
    let met: Box[] = []
    const now = () => byCamera.get(name)!

    function forget(isGone: (one: Box) => boolean): void {
      const { found, refused } = now()
      const rest = found.filter((one) => !isGone(one))
      if (rest.length < found.length) change(name, { found: rest, refused })
    }

    function decide(seen: readonly Box[]): void {
      const { found, refused } = now()
      for (const one of found) minutes.set(one, touches(one, seen) ? 0 : (minutes.get(one) ?? 0) + 1)
      forget((one) => minutes.get(one)! >= MINUTES_WITHOUT)
      const fresh = seen
        .filter((one) => !touches(one, [...found, ...refused, ...met]))
        .slice(0, KEPT_MAX - found.length)
      met = []
      if (fresh.length === 0) return
      log.info({ camera: name, overlays: fresh }, 'something is written into the picture; it is not looked at')
      change(name, { found: [...now().found, ...fresh], refused })
    }

    return {
      see(luma, atMs) {
        const sizeNow = `${luma.width} x ${luma.height}`
        if (size !== sizeNow) finder = createOverlayFinder(luma)
        size = sizeNow
        const seen = finder!.see(luma, atMs)
        if (seen) decide(seen)
      },
      boxes: () => now().found,
      covers: (moving) => now().found.some((one) => isWithin(moving, one)),
      meet(object) {
        if (met.length < KEPT_MAX) met.push(object)
        forget((one) => intersectionOf(one, object) > 0)
      },
      lookAgain() {
        const { found, refused } = now()
        change(name, { found: [], refused: [...refused, ...found].slice(-KEPT_MAX) })
      },
    }
  }

  return { of: overlaysOf, stop: () => work }
}

const touches = (one: Box, others: readonly Box[]) => others.some((other) => intersectionOf(one, other) > 0)

function isWithin(a: Box, b: Box): boolean {
  return (
    a.x >= b.x - AROUND &&
    a.y >= b.y - AROUND &&
    a.x + a.width <= b.x + b.width + AROUND &&
    a.y + a.height <= b.y + b.height + AROUND
  )
}
