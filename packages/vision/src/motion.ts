/**
 * Moving regions: blocks outside their usual range, joined when they touch or nearly touch. A region needs one block
 * clearly outside, like an edge in Canny's hysteresis (1986), and a least size; noise has neither.
 */
import { BLOCK_PIXELS, Background, type BackgroundState } from './background.ts'
import { clipToPicture, type Box } from './box.ts'
import type { Plane, Size } from './image.ts'
import { maskedCells, type Polygon } from './zones.ts'

export type Region = {
  readonly box: Box
  /** Blocks of 8 x 8 pixels that changed. */
  readonly blocks: number
  /** How many of them differ from the picture before: none of a thing that stands. */
  readonly stirred: number
  /** Greatest departure from the usual range, 1 being its border. */
  readonly strength: number
}

export type Motion = {
  readonly state: BackgroundState
  readonly regions: readonly Region[]
  /** Logarithm of the factor by which the light differs from the background's. */
  readonly lighting: number
}

export type MotionDetector = {
  /** `now` is in milliseconds of a clock that never goes back. Throws RangeError for a picture of another size. */
  detect(plane: Plane, now: number): Motion
}

export type MotionOptions = {
  /** The size of the pictures, in pixels. */
  readonly size: Size
  /** Movement inside these zones is ignored. */
  readonly masks?: readonly Polygon[]
  readonly leastBlocks?: number
}

/** A region has at least one block this far outside, where 1 is the border of the usual range. */
const CLEAR_DEPARTURE = 2
/** Blocks with at most one usual block between them belong together. */
const REACH = 2

export function createMotionDetector({ size, masks = [], leastBlocks = 4 }: MotionOptions): MotionDetector {
  const columns = Math.ceil(size.width / BLOCK_PIXELS)
  const rows = Math.ceil(size.height / BLOCK_PIXELS)
  const background = new Background(size, maskedCells(masks, columns, rows))
  const waiting = new Int32Array(columns * rows)

  /** The region around a changed block; its blocks are removed from `departures`. */
  function takeRegion(first: number): Region {
    const { departures } = background
    let strength = 0
    let blocks = 0
    let stirred = 0
    let [left, right, top, bottom] = [columns, 0, rows, 0]
    waiting[0] = first
    strength = departures[first]!
    departures[first] = 0
    for (let count = 1; count > 0;) {
      const block = waiting[--count]!
      const row = Math.floor(block / columns)
      const column = block - row * columns
      blocks++
      stirred += background.stirred[block]!
      left = Math.min(left, column)
      right = Math.max(right, column)
      top = Math.min(top, row)
      bottom = Math.max(bottom, row)
      for (let y = Math.max(0, row - REACH); y <= Math.min(rows - 1, row + REACH); y++)
        for (let x = Math.max(0, column - REACH); x <= Math.min(columns - 1, column + REACH); x++) {
          const departure = departures[y * columns + x]!
          if (departure <= 1) continue
          strength = Math.max(strength, departure)
          departures[y * columns + x] = 0
          waiting[count++] = y * columns + x
        }
    }
    const box = clipToPicture({
      x: (left * BLOCK_PIXELS) / size.width,
      y: (top * BLOCK_PIXELS) / size.height,
      width: ((right + 1 - left) * BLOCK_PIXELS) / size.width,
      height: ((bottom + 1 - top) * BLOCK_PIXELS) / size.height,
    })
    return { box, blocks, stirred, strength }
  }

  return {
    detect(plane, now) {
      const state = background.update(plane, now)
      const regions: Region[] = []
      for (let block = 0; block < background.departures.length; block++) {
        if (background.departures[block]! <= 1) continue
        const region = takeRegion(block)
        if (region.blocks >= leastBlocks && region.strength >= CLEAR_DEPARTURE) regions.push(region)
      }
      return { state, regions, lighting: background.lighting }
    },
  }
}
