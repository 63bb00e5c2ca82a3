import { randomBytes } from 'node:crypto'
import sharp from 'sharp'

/** A JPEG that cannot be made much smaller: noise, `side` pixels wide and high. */
export function noiseJpeg(side: number): Promise<Buffer> {
  const raw = { width: side, height: side, channels: 3 } as const
  return sharp(randomBytes(side * side * 3), { raw })
    .jpeg({ quality: 85 })
    .toBuffer()
}
