import { createRgbImage, type RgbImage, type Size } from '@hedgerow/vision'
import { jpegSize } from '../kernel/jpeg.ts'
import { CameraError } from './camera-error.ts'

/** The longer side of the pictures that the eye looks at, in pixels. */
export const LOOKED_AT_SIDE = 640

/** The longer side of what is taken of the camera's own picture, in pixels: that of 4K would take 25 MB each. */
export const OWN_SIDE = 2_560

/** 8K. */
const PIXELS_MAX = 7_680 * 4_320

/** Loaded with the first picture: a gateway without cameras saves its memory. */
async function loadSharp() {
  const { default: sharp } = await import('sharp')
  // Each camera decodes one picture at a time. No file is read twice, so a cache would only take memory.
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

/** `size` scaled down, in its shape, until the longer side has at most `most` pixels. A side has at least 16. */
export function lookedAtSize({ width, height }: Size, most = LOOKED_AT_SIDE): Size {
  const scale = Math.min(1, most / Math.max(width, height))
  return { width: Math.max(16, Math.round(width * scale)), height: Math.max(16, Math.round(height * scale)) }
}

/**
 * Decodes a JPEG, scaled down until its longer side has at most `most` pixels. Rejects with CameraError when it is not
 * a whole JPEG, is larger than any camera's, or is damaged. `isCut`: it came without an end, so anything that is
 * missing in it makes it damaged.
 */
export async function decodeJpeg(jpeg: Buffer, isCut = false, most = LOOKED_AT_SIDE): Promise<RgbImage> {
  const size = jpegSize(jpeg)
  if (!size) throw new CameraError('it sends pictures that are no whole JPEG')
  const { width, height } = lookedAtSize(size, most)
  const sharp = await loadSharp()
  try {
    const { data } = await sharp(jpeg, {
      failOn: isCut ? 'warning' : 'error',
      limitInputPixels: size.width * size.height,
    })
      .resize(width, height, { fit: 'fill' })
      .toColourspace('srgb')
      .removeAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true })
    return createRgbImage(width, height, data)
  } catch {
    throw new CameraError('it sends damaged pictures')
  }
}

/** A JPEG of a PNG or WebP file. Rejects for any other file, and for one larger than any camera's picture. */
export async function toJpeg(file: Buffer): Promise<Buffer> {
  const sharp = await loadSharp()
  return sharp(file, { failOn: 'error', limitInputPixels: PIXELS_MAX }).jpeg({ quality: 90 }).toBuffer()
}

/** A JPEG of a picture, or of a part of it in pixels, scaled down to at most `width` pixels. */
export async function encodeJpeg(
  image: RgbImage,
  options: {
    part?: { left: number; top: number; width: number; height: number }
    width?: number
    quality?: number
  } = {},
): Promise<Buffer> {
  const { part, width, quality = 80 } = options
  const sharp = await loadSharp()
  const whole = sharp(image.data, { raw: { width: image.width, height: image.height, channels: 3 } })
  const taken = part ? whole.extract(part) : whole
  return (width === undefined ? taken : taken.resize({ width, withoutEnlargement: true })).jpeg({ quality }).toBuffer()
}
