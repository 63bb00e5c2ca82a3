/**
 * Squares of a camera's own picture in which a model looks: a model's input is small, so an object that is far away
 * would vanish in the whole picture. Each square has room around what it is for.
 */
import { centreOf, type Box } from './box.ts'
import type { RgbImage, Size } from './image.ts'
import type { PixelRectangle } from './resample.ts'

/** The shortest side, in pixels of the camera's own picture. */
const LEAST_SQUARE = 320
/** The side of a square, in lengths of the longer side of what it is for; and of two squares around one thing. */
const ROOM = 2
const NARROW = 1.4
const WIDE = 2.4

export type SquaresOptions = {
  /** The size of the camera's own picture. */
  size: Size
  /** The most squares. */
  most: number
  /** The longer side that objects there usually have, as a share of the picture's shorter side; 0 if unknown. */
  usualSide?(box: Box): number
  /** Looks twice at one thing, near and from farther off, where a square is left: what it is is not known yet. */
  isUnknown?: boolean
}

/**
 * At most `most` squares, in whole pixels, around boxes in shares of the picture; the first boxes matter most. `rest`:
 * the boxes that no square contains, because there are too many or they are too large.
 */
export function squaresAround(
  boxes: readonly Box[],
  { size, most, usualSide = () => 0, isUnknown = false }: SquaresOptions,
): { squares: PixelRectangle[]; rest: Box[] } {
  const shorter = Math.min(size.width, size.height)
  const squares: PixelRectangle[] = []
  const rest: Box[] = []
  const sideOf = (box: Box, room: number) => {
    const longer = Math.max(box.width * size.width, box.height * size.height)
    const wanted = Math.max(LEAST_SQUARE, room * longer, room * usualSide(box) * shorter)
    return Math.round(Math.min(wanted, shorter))
  }
  for (const box of boxes) {
    if (squares.some((square) => isWithin(box, square, size))) continue
    const longer = Math.max(box.width * size.width, box.height * size.height)
    if (squares.length >= most || longer > shorter) rest.push(box)
    else squares.push(squareAround(box, sideOf(box, ROOM), size))
  }
  const [first] = boxes
  if (isUnknown && first && squares.length === 1 && most > 1 && rest.length === 0)
    return { squares: [NARROW, WIDE].map((room) => squareAround(first, sideOf(first, room), size)), rest }
  return { squares, rest }
}

function squareAround(box: Box, side: number, { width, height }: Size): PixelRectangle {
  const centre = centreOf(box)
  const within = (middle: number, most: number) => Math.max(0, Math.min(most, Math.round(middle - side / 2)))
  return {
    x: within(centre.x * width, width - side),
    y: within(centre.y * height, height - side),
    width: side,
    height: side,
  }
}

function isWithin(box: Box, { x, y, width, height }: PixelRectangle, size: Size): boolean {
  const [left, top] = [box.x * size.width, box.y * size.height]
  const [right, bottom] = [left + box.width * size.width, top + box.height * size.height]
  return left >= x && top >= y && right <= x + width && bottom <= y + height
}

/** A copy of a part of a picture, in whole pixels. */
export function copyOf({ stride, data }: RgbImage, { x, y, width, height }: PixelRectangle): RgbImage {
  const copy = new Uint8Array(width * height * 3)
  for (let row = 0; row < height; row++) {
    const from = (y + row) * stride + 3 * x
    copy.set(data.subarray(from, from + 3 * width), row * width * 3)
  }
  return { width, height, stride: width * 3, data: copy }
}

/** A rectangle in pixels as shares of the picture. */
export function shareOf({ x, y, width, height }: PixelRectangle, size: Size): Box {
  return { x: x / size.width, y: y / size.height, width: width / size.width, height: height / size.height }
}
