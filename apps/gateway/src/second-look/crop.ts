import type { Box } from '@hedgerow/contract'
import { clipToPicture, createRgbImage, growBy, type RgbImage } from '@hedgerow/vision'
import sharp from 'sharp'
import { jpegSize } from '../kernel/jpeg.ts'

/** Room around the object, in shares of its box. */
const SURROUNDINGS = 0.3
/** In pixels; a larger crop is scaled down. */
const SIDE_MAX = 768
/** In pixels. A model sees nothing in a smaller crop. */
const SIDE_MIN = 8

/** The object with its surroundings, cut out of a picture at full resolution; the whole picture without a box. */
function cut(jpeg: Buffer, box: Box | undefined) {
  const size = jpegSize(jpeg)
  if (!size) return undefined
  const { width, height } = size
  const part = box ? clipToPicture(growBy(box, SURROUNDINGS)) : { x: 0, y: 0, width: 1, height: 1 }
  const area = {
    left: Math.min(width - 1, Math.floor(part.x * width)),
    top: Math.min(height - 1, Math.floor(part.y * height)),
    width: Math.max(1, Math.round(part.width * width)),
    height: Math.max(1, Math.round(part.height * height)),
  }
  area.width = Math.min(area.width, width - area.left)
  area.height = Math.min(area.height, height - area.top)
  if (area.width < SIDE_MIN || area.height < SIDE_MIN) return undefined
  return sharp(jpeg, { limitInputPixels: width * height })
    .extract(area)
    .resize({ width: SIDE_MAX, height: SIDE_MAX, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .removeAlpha()
}

/** Undefined for bytes that are no picture, or for a crop that is too small. Rejects for a damaged one. */
export async function cropToJpeg(jpeg: Buffer, box: Box | undefined): Promise<Buffer | undefined> {
  return cut(jpeg, box)?.jpeg({ quality: 85 }).toBuffer()
}

/** The same, decoded. */
export async function cropToImage(jpeg: Buffer, box: Box | undefined): Promise<RgbImage | undefined> {
  const cropped = cut(jpeg, box)
  if (!cropped) return undefined
  const { data, info } = await cropped.raw().toBuffer({ resolveWithObject: true })
  return createRgbImage(info.width, info.height, data)
}
