import { layouts, letterboxOf, type LayoutName } from '@hedgerow/vision'
import * as fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { knownAnswerModel, RED_CLASS, SCORE } from '../../../../test/harness/onnx/known-answers.ts'
import { OnnxGraph } from './convert/onnx-graph.ts'
import { redRectangle } from '../../testing/known-model.ts'
import type { ExecutionProvider } from './schema.ts'
import { openSession } from './session.ts'

const SIZE = { width: 96, height: 64 }
const names = Object.keys(layouts) as LayoutName[]
const CLASSES = 5

/** One that no runtime of this system has. */
const MISSING: ExecutionProvider = process.platform === 'win32' ? 'coreml' : 'dml'
const CPU: readonly ExecutionProvider[] = ['cpu']

async function open(
  bytes: Buffer,
  layout: LayoutName,
  { size = SIZE, classes = CLASSES, executionProviders = CPU } = {},
) {
  const session = await openSession({
    bytes: new Uint8Array(bytes),
    manifest: { name: 'known', layout, size },
    classes,
    threads: 1,
    executionProviders,
  })
  onTestFinished(() => session.close())
  return session
}

test('a model that gives out its last map gives each object the features of its place', async () => {
  const red = redRectangle(96, 64, { x: 48, y: 0, width: 48, height: 64 })
  for (const batch of [1, 'n']) {
    const session = await open(knownAnswerModel('yolov8', { size: SIZE, features: true, batch }), 'yolov8')
    expect(session.features).toBe(3)
    for (const [found] of await session.look([red, red], 0.3)) {
      const [r, g, b] = found!.features!
      expect([r, g, b]).toEqual([expect.closeTo(1, 1), expect.closeTo(0, 1), expect.closeTo(0, 1)])
    }
  }
  const without = await open(knownAnswerModel('yolov8', { size: SIZE }), 'yolov8')
  expect(without.features).toBe(0)
  expect((await without.look([red], 0.3))[0]![0]).not.toHaveProperty('features')
})

describe.each(names)('a model with outputs as %s', (layout) => {
  test('finds an object’s place to a pixel of the model’s input, for every shape of the picture', async () => {
    const session = await open(knownAnswerModel(layout, { size: SIZE }), layout)
    const side = fc.integer({ min: 40, max: 400 })
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    const scene = fc.record({ width: side, height: side, left: part, top: part, across: part, down: part })
    await fc.assert(
      fc.asyncProperty(scene, async ({ width, height, left, top, across, down }) => {
        const red = {
          width: Math.round(width * (0.3 + 0.5 * across)),
          height: Math.round(height * (0.3 + 0.5 * down)),
        }
        const x = Math.round(left * (width - red.width))
        const y = Math.round(top * (height - red.height))
        const [found] = await session.look([redRectangle(width, height, { x, y, ...red })], 0.3)
        expect(found).toMatchObject([{ classIndex: RED_CLASS }])
        expect(found![0]!.score).toBeCloseTo(SCORE, 4)
        const { box } = found![0]!
        // At each edge, half a pixel of the picture inside of the model's input.
        const drawn = letterboxOf({ width, height }, SIZE, layouts[layout].fit)
        const edges = [
          [box.x, x / width, drawn.width],
          [box.x + box.width, (x + red.width) / width, drawn.width],
          [box.y, y / height, drawn.height],
          [box.y + box.height, (y + red.height) / height, drawn.height],
        ] as const
        for (const [at, truth, pixels] of edges) expect(Math.abs(at - truth) * pixels).toBeLessThanOrEqual(0.501)
      }),
      { numRuns: 40 },
    )
  })

  test('takes pictures of several cameras at once and answers each with its own', async () => {
    const session = await open(knownAnswerModel(layout, { size: SIZE, batch: 'pictures' }), layout)
    expect(session.takesSeveral).toBe(true)
    const pictures = [
      redRectangle(200, 100, { x: 20, y: 10, width: 80, height: 40 }),
      redRectangle(100, 200, { x: 0, y: 0, width: 0, height: 0 }),
      redRectangle(64, 64, { x: 32, y: 32, width: 32, height: 32 }),
    ]
    const found = await session.look(pictures, 0.3)
    expect(found.map(({ length }) => length)).toEqual([1, 0, 1])
    expect(found[0]![0]!.box.x).toBeCloseTo(0.1, 1)
    expect(found[2]![0]!.box.x).toBeCloseTo(0.5, 1)
  })
})

const failure = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

describe('execution providers', () => {
  const model = knownAnswerModel('yolox', { size: SIZE })

  test('the first one that opens is used, and what did not open is told', async () => {
    const session = await open(model, 'yolox', { executionProviders: [MISSING, 'cpu'] })
    expect(session).toMatchObject({ executionProvider: 'cpu', refusals: [expect.stringMatching(`^${MISSING}: `)] })
    const [found] = await session.look([redRectangle(100, 100, { x: 20, y: 20, width: 40, height: 40 })], 0.3)
    expect(found).toMatchObject([{ classIndex: RED_CLASS }])
  })

  test('where none opens, the error names each', async () => {
    await expect(open(model, 'yolox', { executionProviders: [MISSING] })).rejects.toMatchObject(
      failure('provider_missing', new RegExp(`No execution provider opens here. ${MISSING}: `)),
    )
  })

  test('a file that is no model is blamed itself', async () => {
    await expect(open(Buffer.from('no'), 'yolox', { executionProviders: [MISSING, 'cpu'] })).rejects.toMatchObject(
      failure('model_unreadable', /is no ONNX model/),
    )
  })
})

describe('a file that is no model for its manifest is refused in words', () => {
  const model = knownAnswerModel('yolox', { size: SIZE })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('<!doctype html><title>Not found</title>')],
    ['half of a model', model.subarray(0, model.length / 2)],
    ['noise', Buffer.from(Array.from({ length: 500 }, (_, i) => (i * 7919) % 251))],
  ])('%s', async (_what, bytes) => {
    await expect(open(bytes, 'yolox')).rejects.toMatchObject(failure('model_unreadable', /is no ONNX model/))
  })

  test('another size, another number of classes, another layout', async () => {
    const size = { width: 64, height: 64 }
    await expect(open(model, 'yolox', { size })).rejects.toMatchObject(
      failure('model_shape', /takes \[1, 3, 64, 96\], and its manifest says \[1, 3, 64, 64\]/),
    )
    await expect(open(model, 'yolox', { classes: 80 })).rejects.toMatchObject(
      failure('model_shape', /5 classes, and its manifest 80 labels/),
    )
    await expect(open(model, 'detr')).rejects.toMatchObject(failure('model_shape', /1 outputs, not 2/))
    const eight = knownAnswerModel('yolov8', { size: SIZE })
    await expect(open(eight, 'yolox')).rejects.toMatchObject(failure('model_shape', /./))
  })

  test('a model of something else', async () => {
    const graph = new OnnxGraph()
    graph.input('a', [1, 3])
    graph.input('b', [1, 3])
    graph.output('sum', graph.node('Add', ['a', 'b']), [1, 3])
    await expect(open(graph.toFile(), 'yolox')).rejects.toMatchObject(failure('model_shape', /2 inputs/))
  })
})
