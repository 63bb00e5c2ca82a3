import type { Box } from '@hedgerow/vision'
import sharp from 'sharp'
import { jpegSize } from '../kernel/jpeg.ts'

/** The line's width, as a share of the picture's longer side. */
const LINE_SHARE = 0.004
const COLOUR = '#ffb000'

/** A JPEG with a box drawn into it; the same bytes if it is not a whole JPEG. */
export async function drawBox(jpeg: Buffer, box: Box): Promise<Buffer> {
  const size = jpegSize(jpeg)
  if (!size) return jpeg
  const { width, height } = size
  const line = Math.max(2, Math.round(Math.max(width, height) * LINE_SHARE))
  const [x, y] = [box.x * width, box.y * height]
  const rectangle = `<rect x="${x}" y="${y}" width="${box.width * width}" height="${box.height * height}"/>`
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" fill="none" stroke="${COLOUR}" ` +
    `stroke-width="${line}">${rectangle}</svg>`
  return sharp(jpeg, { limitInputPixels: width * height })
    .composite([{ input: Buffer.from(svg) }])
    .jpeg({ quality: 90 })
    .toBuffer()
}
