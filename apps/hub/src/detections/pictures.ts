/**
 * Pictures from gateways. The hub stores and shows only JPEGs of which it read every bit: no other format, no metadata,
 * nothing hidden. A plain one stays as it is; any other is decoded and encoded again, off the event loop. Few are read
 * at a time, with limits of pixels, bytes and time, so that no gateway can make the hub decode bombs. Gateways take
 * turns, so that a flood of one delays another by no more than one picture.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { THUMBNAIL_MAX_BYTES } from '@hedgerow/contract'
import { FairQueue } from '../kernel/fair-queue.ts'
import { plainJpeg } from './plain-jpeg.ts'
import { loadSharp } from './sharp.ts'

/** A thumbnail of 64 KiB cannot usefully have more. */
const PIXELS_MAX = 4_000_000
const SECONDS_MAX = 5
const AT_ONCE = 2
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff])
/**
 * Tried in turn until the picture fits. The first skips the search for the best codes, which takes a good part of
 * the time; a little less quality saves as many bytes.
 */
const ATTEMPTS = [{ quality: 80, optimiseCoding: false }, { quality: 65 }, { quality: 65, width: 480 }] as const

let running = 0
/** Each gateway's calls bound what waits here. */
const waiting = new FairQueue<() => void>({ perKey: Infinity, total: Infinity })

/** The picture as the hub stores it; undefined when it is not a whole JPEG, or too large. */
export async function cleanJpeg(
  gatewayId: string,
  bytes: Buffer,
  maxBytes = THUMBNAIL_MAX_BYTES,
): Promise<Buffer | undefined> {
  if (bytes.length > maxBytes || !bytes.subarray(0, 3).equals(JPEG_START)) return undefined
  if (running < AT_ONCE) running += 1
  else await new Promise<void>((resolve) => waiting.put(gatewayId, resolve))
  try {
    const plain = plainJpeg(bytes, PIXELS_MAX)
    if (plain && plain.length <= maxBytes) {
      // Other work goes first, because this was read on the event loop: at most some milliseconds of it.
      await nextTurn()
      return plain
    }
    for (const attempt of ATTEMPTS) {
      const made = await encode(bytes, attempt)
      if (made.length <= maxBytes) return made
    }
    return undefined
  } catch {
    return undefined
  } finally {
    const next = waiting.take()
    if (next) next()
    else running -= 1
  }
}

type Attempt = { quality: number; optimiseCoding?: boolean; width?: number }

async function encode(bytes: Buffer, { width, ...coding }: Attempt): Promise<Buffer> {
  const sharp = await loadSharp()
  const picture = sharp(bytes, { limitInputPixels: PIXELS_MAX, failOn: 'error', sequentialRead: true })
    .timeout({ seconds: SECONDS_MAX })
    .autoOrient()
  if (width !== undefined) picture.resize({ width, withoutEnlargement: true })
  return picture.jpeg(coding).toBuffer()
}

/** For a test message: nothing but noise, and as many bytes as a detection's picture has. */
export async function testPicture(): Promise<Buffer> {
  const sharp = await loadSharp()
  const noise = { type: 'gaussian', mean: 110, sigma: 20 } as const
  return sharp({ create: { width: 480, height: 270, channels: 3, background: 'black', noise } })
    .jpeg({ quality: 70 })
    .toBuffer()
}
