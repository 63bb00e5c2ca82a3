import { expect, test } from 'vitest'
import { copyOf, shareOf, squaresAround } from './squares.ts'
import { createRgbImage } from './image.ts'

const size = { width: 1_920, height: 1_080 }
const box = (x: number, y: number, width = 0.02, height = 0.05) => ({ x, y, width, height })

test('a far object gets a square of at least 320 pixels with room around it, inside of the picture', () => {
  const { squares, rest } = squaresAround([box(0.5, 0.5), box(0.98, 0.95)], { size, most: 2 })
  expect(rest).toEqual([])
  expect(squares).toMatchObject([
    { width: 320, height: 320 },
    { x: 1_600, y: 760, width: 320, height: 320 },
  ])
  const [large] = squaresAround([box(0.2, 0.3, 0.15, 0.2)], { size, most: 2 }).squares
  expect(large).toMatchObject({ width: 576, height: 576 })
})

test('boxes that are near share a square; too many, or too large ones, need the whole picture', () => {
  const near = [box(0.5, 0.5), box(0.53, 0.52)]
  expect(squaresAround(near, { size, most: 2 }).squares).toHaveLength(1)
  const many = [box(0.1, 0.1), box(0.5, 0.5), box(0.9, 0.9)]
  expect(squaresAround(many, { size, most: 2 })).toMatchObject({ squares: [{}, {}], rest: [many[2]] })
  expect(squaresAround([box(0, 0.2, 0.9, 0.5)], { size, most: 2 })).toMatchObject({ squares: [], rest: [{}] })
})

test('where objects are usually large, the square is too', () => {
  const [square] = squaresAround([box(0.5, 0.5)], { size, most: 1, usualSide: () => 0.3 }).squares
  expect(square).toMatchObject({ width: 648 })
})

test('a part is copied pixel by pixel, and its box is in shares', () => {
  const image = createRgbImage(8, 4)
  image.data.forEach((_, i) => (image.data[i] = i))
  const part = { x: 2, y: 1, width: 2, height: 2 }
  const first = image.stride + 6
  expect([...copyOf(image, part).data]).toEqual(
    [0, 1].flatMap((row) => [0, 1, 2, 3, 4, 5].map((byte) => (first + row * image.stride + byte) % 256)),
  )
  expect(shareOf(part, image)).toEqual({ x: 0.25, y: 0.25, width: 0.25, height: 0.5 })
})
