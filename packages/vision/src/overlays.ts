/**
 * Finds what a camera writes into its picture and changes all the time: a clock with seconds or tenths, a ticker.
 * It is looked for at the upper and the lower edge alone. Once a second the picture is compared with the one
 * before; a minute decides. Text is flat and small, consists of strokes, and nothing around it changes: an animal
 * goes away within a minute, and is no stroke.
 */
import { areaOf, type Box } from './box.ts'
import { createPlane, type Plane, type Size } from './image.ts'

export type OverlayFinder = {
  /** At the end of a minute: what is written in the picture. `now`: milliseconds of a clock that never goes back. */
  see(luma: Plane, now: number): Box[] | undefined
}

const BLOCK = 8
const EVERY_MS = 1_000
/** A pause of the camera, after which the minute begins again. */
const GAP_MS = 5_000
const COMPARISONS = 60
/** These shares of the picture, above and below, may have text. */
const MARGIN = 0.17
const MOST_AREA = 0.06
const MOST_HEIGHT = 0.1
/** Levels of grey between two pictures, and between a stroke and what is beside it. */
const CHANGED = 40
const SHARP = 48
const LEAST_PIXELS = 2
/** A block of text has so many pixels of strokes, of at most this width. */
const LEAST_STROKES = 2
const STROKE = 4
/** Text has a block that changes in this share of the comparisons; its others do more often than anything around. */
const ALWAYS = 0.9
const OFTEN = 0.1
/** Of the changes of a text, this share is in blocks with strokes. */
const SHARP_SHARE = 0.9
/** Between letters that change, in blocks. */
const LETTERS_APART = 4
/** The text's own colour stays: so far from each other are the brightest pixels of a block, or the darkest. */
const SAME_COLOUR = 48
/** When more of the picture changes, it says nothing about text. */
const BUSY = 0.08
const BUSY_COMPARISONS = 30

export function createOverlayFinder(size: Size): OverlayFinder {
  const columns = Math.floor(size.width / BLOCK)
  const rows = Math.floor(size.height / BLOCK)
  const margin = Math.floor(rows * MARGIN)
  const isMargin = (row: number) => row < margin || row >= rows - margin
  const before = createPlane(size.width, size.height)
  const changes = new Uint8Array(columns * rows)
  const sharpChanges = new Uint8Array(columns * rows)
  /** Of the blocks that change: the lowest and highest value of their brightest pixel, and of their darkest. */
  const extremes = new Uint8Array(4 * columns * rows)
  let comparedAt = -Infinity
  let comparisons = 0
  let busy = 0

  function begin(): void {
    changes.fill(0)
    sharpChanges.fill(0)
    for (let at = 0; at < extremes.length; at += 4) extremes.set([255, 0, 255, 0], at)
    comparisons = 0
    busy = 0
  }

  function keep(luma: Plane): void {
    for (let y = 0; y < size.height; y++)
      before.data.set(luma.data.subarray(y * luma.stride, y * luma.stride + size.width), y * before.stride)
  }

  function hasChanged({ data, stride }: Plane, left: number, top: number): boolean {
    let pixels = 0
    for (let y = top; y < top + BLOCK; y++)
      for (let x = left; x < left + BLOCK; x++)
        if (Math.abs(data[y * stride + x]! - before.data[y * before.stride + x]!) > CHANGED && ++pixels >= LEAST_PIXELS)
          return true
    return false
  }

  /** Whether a pixel belongs to a stroke: on both sides of it, across or down, the picture is lighter, or darker. */
  function isStroke(data: Uint8Array, at: number, place: number, length: number, step: number): boolean {
    let [lightest, darkest] = [0, 0]
    for (const side of [-step, step]) {
      let [light, dark] = [0, 0]
      for (let away = 1; away <= STROKE; away++) {
        const there = place + Math.sign(side) * away
        if (there < 0 || there >= length) break
        const difference = data[at + side * away]! - data[at]!
        if (difference > SHARP) light = 1
        if (difference < -SHARP) dark = 1
      }
      lightest += light
      darkest += dark
    }
    return lightest === 2 || darkest === 2
  }

  function note({ data, stride }: Plane, block: number, left: number, top: number): void {
    let [strokes, brightest, darkest] = [0, 0, 255]
    for (let y = top; y < top + BLOCK; y++)
      for (let x = left; x < left + BLOCK; x++) {
        const at = y * stride + x
        brightest = Math.max(brightest, data[at]!)
        darkest = Math.min(darkest, data[at]!)
        if (isStroke(data, at, x, size.width, 1) || isStroke(data, at, y, size.height, stride)) strokes++
      }
    changes[block]!++
    if (strokes >= LEAST_STROKES) sharpChanges[block]!++
    const at = 4 * block
    extremes[at] = Math.min(extremes[at]!, brightest)
    extremes[at + 1] = Math.max(extremes[at + 1]!, brightest)
    extremes[at + 2] = Math.min(extremes[at + 2]!, darkest)
    extremes[at + 3] = Math.max(extremes[at + 3]!, darkest)
  }

  function compare(luma: Plane): void {
    const changed: number[] = []
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++)
        if (hasChanged(luma, column * BLOCK, row * BLOCK)) changed.push(row * columns + column)
    if (changed.length > BUSY * columns * rows) return void busy++
    for (const block of changed) note(luma, block, (block % columns) * BLOCK, Math.floor(block / columns) * BLOCK)
    comparisons++
  }

  const isAlways = (block: number) => changes[block]! >= ALWAYS * COMPARISONS
  const hasColour = (block: number) => {
    const [lowBright, highBright, lowDark, highDark] = extremes.subarray(4 * block, 4 * block + 4)
    return highBright! - lowBright! <= SAME_COLOUR || highDark! - lowDark! <= SAME_COLOUR
  }

  /** The blocks that change often around this one, whose marks it takes away. */
  function take(first: number, isOpen: Uint8Array): number[] {
    const blocks = [first]
    isOpen[first] = 0
    for (let next = 0; next < blocks.length; next++) {
      const [row, column] = [Math.floor(blocks[next]! / columns), blocks[next]! % columns]
      for (let y = Math.max(0, row - 2); y <= Math.min(rows - 1, row + 2); y++)
        for (let x = Math.max(0, column - 2); x <= Math.min(columns - 1, column + 2); x++) {
          const block = y * columns + x
          if (isOpen[block] === 0) continue
          isOpen[block] = 0
          blocks.push(block)
        }
    }
    return blocks
  }

  /** The last column to this side whose letters change too, such as minutes; what is higher than the line is none. */
  function lineEnd(from: number, step: 1 | -1, top: number, bottom: number): number {
    let end = from
    for (let x = from + step; x >= 0 && x < columns && Math.abs(x - end) <= LETTERS_APART; x += step) {
      let [within, sharp, outside] = [0, 0, 0]
      for (let y = Math.max(0, top - 2); y <= Math.min(rows - 1, bottom + 2); y++)
        if (y < top || y > bottom) outside += changes[y * columns + x]!
        else {
          within += changes[y * columns + x]!
          sharp += sharpChanges[y * columns + x]!
        }
      if (within > 0 && sharp === within && outside === 0) end = x
    }
    return end
  }

  function boxOf(blocks: readonly number[]): Box | undefined {
    const ofRows = blocks.map((block) => Math.floor(block / columns))
    const ofColumns = blocks.map((block) => block % columns)
    if (!ofRows.every(isMargin)) return undefined
    const sum = (of: Uint8Array) => blocks.reduce((total, block) => total + of[block]!, 0)
    if (sum(sharpChanges) < SHARP_SHARE * sum(changes)) return undefined
    const always = blocks.filter(isAlways)
    if (always.length === 0 || always.filter(hasColour).length < always.length / 2) return undefined
    const [top, bottom] = [Math.min(...ofRows), Math.max(...ofRows)]
    const left = lineEnd(Math.min(...ofColumns), -1, top, bottom)
    const right = lineEnd(Math.max(...ofColumns), 1, top, bottom)
    const box = {
      x: (left * BLOCK) / size.width,
      y: (top * BLOCK) / size.height,
      width: ((right + 1 - left) * BLOCK) / size.width,
      height: ((bottom + 1 - top) * BLOCK) / size.height,
    }
    return areaOf(box) <= MOST_AREA && box.height <= MOST_HEIGHT ? box : undefined
  }

  function decide(): Box[] {
    const isOpen = Uint8Array.from(changes, (count) => (count > OFTEN * COMPARISONS ? 1 : 0))
    const boxes: Box[] = []
    for (let block = 0; block < isOpen.length; block++) {
      if (isOpen[block] === 0 || !isAlways(block)) continue
      const box = boxOf(take(block, isOpen))
      if (box) boxes.push(box)
    }
    return boxes
  }

  begin()
  return {
    see(luma, now) {
      if (now - comparedAt < EVERY_MS) return undefined
      if (now - comparedAt > GAP_MS) begin()
      else compare(luma)
      comparedAt = now
      keep(luma)
      const isDecided = comparisons >= COMPARISONS
      const found = isDecided ? decide() : undefined
      if (isDecided || busy >= BUSY_COMPARISONS) begin()
      return found
    },
  }
}
