import { randomBytes } from 'node:crypto'
import sharp from 'sharp'

/** A JPEG that cannot be made much smaller: noise of so many pixels a side. */
export function noiseJpeg(side: number): Promise<Buffer> {
  const raw = { width: side, height: side, channels: 3 } as const
  return sharp(randomBytes(side * side * 3), { raw })
    .jpeg({ quality: 85 })
    .toBuffer()
}
