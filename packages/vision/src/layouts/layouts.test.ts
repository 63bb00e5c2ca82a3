import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Box } from '../box.ts'
import { createRgbImage } from '../image.ts'
import { letterboxOf, toTarget } from '../letterbox.ts'
import { layouts, readOutputs, toTensor, type LayoutName } from './layouts.ts'
import { LayoutError, type Tensor } from './tensor.ts'

const INPUT = { width: 416, height: 416 }
const CLASSES = 80

type Planted = { box: Box; classIndex: number; score: number }

/** The cell of a YOLOX input that a box's centre lies in, at stride 16, and its row among all cells. */
function yoloxCell(x: number, y: number) {
  const [column, row] = [Math.floor(x / 16), Math.floor(y / 16)]
  return { column, row, index: 52 * 52 + row * 26 + column }
}

const logit = (score: number) => Math.log(score / (1 - score))

/** Outputs as a model of each layout would give them for objects at known places of its input. */
const encoders: Record<LayoutName, (objects: Planted[]) => Tensor[]> = {
  yolox(objects) {
    const length = 5 + CLASSES
    const data = new Float32Array(3_549 * length)
    for (const { box, classIndex, score } of objects) {
      const [x, y] = [(box.x + box.width / 2) * 416, (box.y + box.height / 2) * 416]
      const { column, row, index } = yoloxCell(x, y)
      const values = [
        x / 16 - column,
        y / 16 - row,
        Math.log((box.width * 416) / 16),
        Math.log((box.height * 416) / 16),
      ]
      data.set([...values, 0.9], index * length)
      data[index * length + 5 + classIndex] = score / 0.9
    }
    return [{ data, shape: [1, 3_549, length] }]
  },
  detr: (objects) => queries(objects, 300, CLASSES),
  'rf-detr': (objects) => queries(objects, 300, 91).toReversed(),
  yolov5(objects) {
    const data = new Float32Array(1_000 * 8)
    for (const [i, { box, classIndex, score }] of objects.entries()) {
      data.set([...pixelsOf(box), 0.8], (i + 3) * 8)
      data[(i + 3) * 8 + 5 + classIndex] = score / 0.8
    }
    return [{ data, shape: [1, 1_000, 8] }]
  },
  yolov8(objects) {
    const places = 3_549
    const data = new Float32Array((4 + CLASSES) * places)
    for (const [i, { box, classIndex, score }] of objects.entries()) {
      for (const [k, value] of pixelsOf(box).entries()) data[k * places + i + 7] = value
      data[(4 + classIndex) * places + i + 7] = score
    }
    return [{ data, shape: [1, 4 + CLASSES, places] }]
  },
}

const pixelsOf = (box: Box) => [
  (box.x + box.width / 2) * 416,
  (box.y + box.height / 2) * 416,
  box.width * 416,
  box.height * 416,
]

function queries(objects: Planted[], count: number, classes: number): Tensor[] {
  const logits = new Float32Array(count * classes).fill(-9)
  const boxes = new Float32Array(count * 4).fill(0.5)
  for (const [i, { box, classIndex, score }] of objects.entries()) {
    logits[(i + 5) * classes + classIndex] = logit(score)
    boxes.set([box.x + box.width / 2, box.y + box.height / 2, box.width, box.height], (i + 5) * 4)
  }
  return [
    { data: logits, shape: [1, count, classes] },
    { data: boxes, shape: [1, count, 4] },
  ]
}

const names = Object.keys(layouts) as LayoutName[]

describe.each(names)('%s', (name) => {
  const layout = layouts[name]

  test('objects at known places come back at these places of the source, at every shape of it', () => {
    const side = fc.integer({ min: 100, max: 3_000 })
    const place = fc.double({ min: 0.02, max: 0.5, noNaN: true })
    fc.assert(
      fc.property(side, side, place, place, (width, height, x, y) => {
        const letterbox = letterboxOf({ width, height }, INPUT, layout.fit)
        const planted = [
          { box: { x, y, width: 0.25, height: 0.3 }, classIndex: 1, score: 0.8 },
          { box: { x: 0.76, y: 0.7, width: 0.1, height: 0.2 }, classIndex: 2, score: 0.6 },
        ]
        const outputs = encoders[name](planted.map((object) => ({ ...object, box: toTarget(letterbox, object.box) })))
        const found = readOutputs(layout, outputs, letterbox, 0.4)
        expect(found).toHaveLength(2)
        for (const [i, { box, classIndex, score }] of planted.entries()) {
          expect(found[i]!.classIndex).toBe(classIndex)
          expect(found[i]!.score).toBeCloseTo(score, 5)
          // To a hundredth of a pixel of a source of 3,000.
          for (const key of ['x', 'y', 'width', 'height'] as const)
            expect(Math.abs(found[i]!.box[key] - box[key])).toBeLessThan(
              (3e-6 * Math.max(width, height)) / Math.min(width, height) + 1e-6,
            )
        }
      }),
      { numRuns: 30 },
    )
  })

  test('a candidate below the score, or with NaN, is dropped', () => {
    const letterbox = letterboxOf(INPUT, INPUT, layout.fit)
    const box = { x: 0.3, y: 0.3, width: 0.2, height: 0.2 }
    expect(readOutputs(layout, encoders[name]([{ box, classIndex: 0, score: 0.3 }]), letterbox, 0.4)).toEqual([])
    for (const value of [Number.NaN, Infinity, -Infinity]) {
      const outputs = encoders[name]([{ box, classIndex: 0, score: 0.8 }])
      for (const { data } of outputs) data.fill(value)
      for (const { box: found } of readOutputs(layout, outputs, letterbox, 0.4))
        expect(Object.values(found).every(Number.isFinite)).toBe(true)
    }
  })

  test('outputs of another shape, too few, or shorter than they say are refused in words', () => {
    const letterbox = letterboxOf(INPUT, INPUT, layout.fit)
    const outputs = encoders[name]([])
    const read = (changed: Tensor[]) => () => readOutputs(layout, changed, letterbox, 0.4)
    expect(read([])).toThrow(LayoutError)
    expect(read(outputs.map(({ data, shape }) => ({ data, shape: shape.slice(1) })))).toThrow(/the model's output/)
    expect(read(outputs.map(({ data, shape }) => ({ data: data.subarray(1), shape })))).toThrow(/numbers, not those of/)
    expect(
      read(outputs.map(({ shape }) => ({ data: new Float32Array(0), shape: shape.map((_, i) => (i === 0 ? 1 : 0)) }))),
    ).toThrow(LayoutError)
  })
})

test('two boxes of one object are one where the layout repeats itself, and two where it does not', () => {
  const planted = [0.8, 0.7].map((score, i) => ({
    box: { x: 0.3 + i * 0.005, y: 0.3, width: 0.3, height: 0.3 },
    classIndex: 1,
    score,
  }))
  const count = (name: LayoutName) => {
    const letterbox = letterboxOf(INPUT, INPUT, layouts[name].fit)
    return readOutputs(layouts[name], encoders[name](planted), letterbox, 0.4).length
  }
  expect(count('yolov8')).toBe(1)
  expect(count('yolov5')).toBe(1)
  expect(count('detr')).toBe(2)
})

test('a flood of candidates is cut to the surest', () => {
  const data = new Float32Array(5 * 20_000)
  for (let i = 0; i < 20_000; i++) {
    data[i] = (i % 200) * 2
    data[20_000 + i] = Math.floor(i / 200) * 4
    data.fill(1, 40_000 + i, 40_000 + i + 1)
    data[60_000 + i] = 1
    data[80_000 + i] = 0.9
  }
  const letterbox = letterboxOf(INPUT, INPUT, 'centre')
  const found = readOutputs(layouts.yolov8, [{ data, shape: [1, 5, 20_000] }], letterbox, 0.4)
  expect(found.length).toBeLessThanOrEqual(500)
})

test('the input: planes, order of colours, mean and deviation', () => {
  const image = createRgbImage(2, 1, Uint8Array.of(255, 0, 51, 102, 204, 0))
  expect([...toTensor(image, layouts.yolox).data]).toEqual([51, 0, 0, 204, 255, 102])
  expect([...toTensor(image, layouts.detr).data].map((value) => Math.round(value * 10) / 10)).toEqual([
    1, 0.4, 0, 0.8, 0.2, 0,
  ])
  const [red] = toTensor(image, layouts['rf-detr']).data
  expect(red).toBeCloseTo((1 - 0.485) / 0.229, 4)
  expect(toTensor(image, layouts.detr).shape).toEqual([1, 3, 1, 2])
})
