/**
 * Histograms of oriented gradients (Dalal and Triggs 2005): the shape in a crop, at any brightness.
 * Gradients by [-1 0 1] without smoothing, nine orientations over 180 degrees in cells of 8 x 8 pixels with linear
 * votes to the neighbours, blocks of 2 x 2 cells that overlap, each brought to length 1, cut at 0.2, and again
 * (L2-Hys).
 */
import type { Plane } from './image.ts'

/** Side of the crop in pixels. */
export const HOG_PIXELS = 64

const CELL = 8
const CELLS = HOG_PIXELS / CELL
const ORIENTATIONS = 9
const BLOCKS = CELLS - 1
const BLOCK_FEATURES = 4 * ORIENTATIONS
const HYSTERESIS = 0.2
/** Avoids a division by zero for a block without gradient. In grey levels. */
const LEAST_LENGTH = 4

/** Numbers that describe a crop: 7 x 7 blocks of 2 x 2 cells of 9 orientations. */
export const HOG_FEATURES = BLOCKS * BLOCKS * BLOCK_FEATURES

/** The features of a plane of 64 x 64 pixels, each 0 to 1. Throws RangeError for another size. */
export function hogOf(plane: Plane, into = new Float32Array(HOG_FEATURES)): Float32Array {
  if (plane.width !== HOG_PIXELS || plane.height !== HOG_PIXELS)
    throw new RangeError(`HOG is taken of ${HOG_PIXELS} x ${HOG_PIXELS} pixels`)
  const cells = cellHistograms(plane)
  for (let row = 0, at = 0; row < BLOCKS; row++)
    for (let column = 0; column < BLOCKS; column++, at += BLOCK_FEATURES) {
      for (let i = 0; i < 4; i++) {
        const cell = (row + (i >> 1)) * CELLS + column + (i & 1)
        into.set(cells.subarray(cell * ORIENTATIONS, (cell + 1) * ORIENTATIONS), at + i * ORIENTATIONS)
      }
      normalise(into.subarray(at, at + BLOCK_FEATURES))
    }
  return into
}

function cellHistograms({ data, stride }: Plane): Float32Array {
  const cells = new Float32Array(CELLS * CELLS * ORIENTATIONS)
  for (let y = 0; y < HOG_PIXELS; y++) {
    const above = Math.max(0, y - 1) * stride
    const below = Math.min(HOG_PIXELS - 1, y + 1) * stride
    for (let x = 0; x < HOG_PIXELS; x++) {
      const dx = data[y * stride + Math.min(HOG_PIXELS - 1, x + 1)]! - data[y * stride + Math.max(0, x - 1)]!
      const dy = data[below + x]! - data[above + x]!
      if (dx !== 0 || dy !== 0) vote(cells, x, y, Math.atan2(dy, dx), Math.sqrt(dx * dx + dy * dy))
    }
  }
  return cells
}

/** One pixel's gradient goes to the two nearest orientations of the four nearest cells. */
function vote(cells: Float32Array, x: number, y: number, angle: number, length: number): void {
  const turn = ((angle < 0 ? angle + Math.PI : angle) / Math.PI) * ORIENTATIONS - 0.5
  const lower = Math.floor(turn)
  const upperShare = turn - lower
  const first = (lower + ORIENTATIONS) % ORIENTATIONS
  const second = (lower + 1) % ORIENTATIONS
  const across = (x + 0.5) / CELL - 0.5
  const down = (y + 0.5) / CELL - 0.5
  const left = Math.floor(across)
  const top = Math.floor(down)
  for (let row = top; row <= top + 1; row++) {
    if (row < 0 || row >= CELLS) continue
    const rowShare = 1 - Math.abs(down - row)
    for (let column = left; column <= left + 1; column++) {
      if (column < 0 || column >= CELLS) continue
      const weight = length * rowShare * (1 - Math.abs(across - column))
      const cell = (row * CELLS + column) * ORIENTATIONS
      cells[cell + first]! += weight * (1 - upperShare)
      cells[cell + second]! += weight * upperShare
    }
  }
}

function normalise(block: Float32Array): void {
  scaleToOne(block, LEAST_LENGTH)
  for (let i = 0; i < block.length; i++) block[i] = Math.min(HYSTERESIS, block[i]!)
  scaleToOne(block, 1e-3)
}

function scaleToOne(block: Float32Array, least: number): void {
  let sum = least * least
  for (let i = 0; i < block.length; i++) sum += block[i]! * block[i]!
  const factor = 1 / Math.sqrt(sum)
  for (let i = 0; i < block.length; i++) block[i]! *= factor
}
