/** Photographs with a transparent background, drawn into a picture of three numbers a pixel. */
import { join } from 'node:path'
import sharp from 'sharp'

export type Colour = readonly [red: number, green: number, blue: number]
export type Canvas = { width: number; height: number; data: Float32Array }
export type Photograph = { width: number; height: number; data: Buffer }

const FOLDER = join(import.meta.dirname, 'demo-photographs')

export async function readPhotograph(name: string): Promise<Photograph> {
  const file = sharp(join(FOLDER, `${name}.webp`))
  const { data, info } = await file.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  return { width: info.width, height: info.height, data }
}

export function blend({ width, height, data }: Canvas, x: number, y: number, share: number, colour: Colour): void {
  if (x < 0 || y < 0 || x >= width || y >= height) return
  const at = (y * width + x) * 3
  for (let channel = 0; channel < 3; channel++) data[at + channel]! += (colour[channel]! - data[at + channel]!) * share
}

export type Placed = {
  footX: number
  footY: number
  tall: number
  isMirrored: boolean
  colourOf(colour: Colour): Colour
  /** How far the photograph is bent to the side at this height, from 0 at its top to 1, as a share of its width. */
  bend?: (u: number, v: number) => number
}

export function drawPhotograph(canvas: Canvas, photograph: Photograph, placed: Placed): void {
  const { footX, footY, tall, isMirrored, colourOf, bend } = placed
  const wide = (tall * photograph.width) / photograph.height
  const top = footY - tall
  for (let y = Math.floor(top); y <= footY; y++)
    for (let x = Math.floor(footX - wide * 0.55); x <= footX + wide * 0.55; x++) {
      const across = (x - footX) / wide + 0.5
      const v = (y - top) / tall
      let u = isMirrored ? 1 - across : across
      if (bend) u += bend(u, v)
      const [red, green, blue, alpha] = between(photograph, u, v)
      if (alpha > 0) blend(canvas, x, y, alpha / 255, colourOf([red, green, blue]))
    }
}

/** Between its pixels; what is outside is transparent. */
function between({ width, height, data }: Photograph, u: number, v: number): [number, number, number, number] {
  const x = u * width - 0.5
  const y = v * height - 0.5
  const left = Math.floor(x)
  const top = Math.floor(y)
  const sum: [number, number, number, number] = [0, 0, 0, 0]
  for (let row = Math.max(0, top); row <= Math.min(height - 1, top + 1); row++)
    for (let column = Math.max(0, left); column <= Math.min(width - 1, left + 1); column++) {
      const at = (row * width + column) * 4
      const alpha = data[at + 3]! * (1 - Math.abs(x - column)) * (1 - Math.abs(y - row))
      for (let channel = 0; channel < 3; channel++) sum[channel]! += data[at + channel]! * alpha
      sum[3] += alpha
    }
  if (sum[3] > 0) for (let channel = 0; channel < 3; channel++) sum[channel]! /= sum[3]
  return sum
}
