import { InferenceSession, Tensor } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { createGraph, everyOperation } from '../../../testing/tensorflow-graph.ts'
import { OnnxGraph } from './onnx-graph.ts'
import { readTensorFlow } from './tensorflow.ts'
import { translate } from './translation.ts'

/** What TensorFlow.js 4.22.0 answers for the graph and the picture below, in ten thousandths. */
const ANSWER = `
5596 4745 8206 5861 6876 6114 4195 4042 5781 7366 4966 6109 8848 5311 8258 5887 9254 6108 6418 4155 7857 5856 5037 6095
4218 5181 5720 5890 5974 6737 7033 4353 9446 6012 7875 6104 5800 4681 5902 5867 5069 9274 4729 7214 5722 8411 4929 6111
4021 5543 7651 5930 5696 6188 9880 8580 8579 5869 5322 8549 4028 5561 5790 9675 5000 9654 4342 4353 5883 8987 5020 6116
4097 4008 7828 8004 8771 7487 7621 4272 5596 5892 5393 6172 9510 7066 8508 8371 5004 6096 3993 4161 8678 6998 9042 6098
8414 3890 9794 5861 5035 6182 4196 4353 5951 8717 5019 6309 9595 4353 9187 5867 5057 6342 4032 3778 5630 9244 8846 9651
7197 3755 7775 7323 7801 6113 4278 3781 5818 6273 5062 6118 4335 4474 6889 7916 5001 6118 4327 4353 6783 5913 5058 6118
7373 4353 9122 8164 9011 6097 4285 4353 6011 5866 7696 6119 4270 4514 7439 5925 5258 6306 6157 5331 5726 5864 4988 6118
4239 4634 5727 8476 5005 6118 5030 4353 5727 7176 8475 6118
`

function translated(files: Map<string, Buffer>): { file: Buffer; shape: readonly number[] } {
  const graph = new OnnxGraph()
  const name = graph.input('picture', [1, 10, 12, 3])
  const model = readTensorFlow(files, 'model.json')
  const picture = { name, shape: [1, 10, 12, 3], channelsFirst: false }
  const answer = translate(graph, model, { picture }).value('answer')
  graph.output('answer', answer.name, answer.shape)
  return { file: graph.toFile(), shape: answer.shape }
}

test('every operation gives what TensorFlow.js gives, to 0.0001', async () => {
  let state = 7
  const random = () => ((state = (state * 16_807) % 2_147_483_647) / 2_147_483_647) * 2 - 1
  const { file, shape } = translated(everyOperation())
  expect(shape).toEqual([60, 3])
  const session = await InferenceSession.create(file)
  const picture = new Tensor('float32', Float32Array.from({ length: 360 }, random), [1, 10, 12, 3])
  const { answer } = await session.run({ picture })
  const found = [...(answer!.data as Float32Array)]
  const expected = ANSWER.trim()
    .split(/\s+/)
    .map((digits) => Number(`0.${digits}`))
  expect(found).toHaveLength(expected.length)
  for (const [i, value] of expected.entries()) expect(Math.abs(found[i]! - value), `number ${i}`).toBeLessThan(1e-4)
})

test('the same graph gives the same bytes', () => {
  expect(translated(everyOperation()).file.equals(translated(everyOperation()).file)).toBe(true)
})

function graphOf(op: string, attributes: Record<string, object> = {}): Map<string, Buffer> {
  const { node, files, floats } = createGraph()
  node('answer', op, ['picture', floats([3, 3, 3, 8])], attributes)
  return files()
}

test.each([
  [
    'an unknown operation',
    graphOf('NonMaxSuppressionV5'),
    /operation NonMaxSuppressionV5 \(answer\), which this version/,
  ],
  ['one with the name of a member of objects', graphOf('constructor'), /operation constructor \(answer\)/],
  [
    'another order of axes',
    graphOf('Conv2D', { data_format: { s: 'TkNIVw==' }, padding: { s: 'U0FNRQ==' } }),
    /node answer .* in another way/,
  ],
  ['padding of another kind', graphOf('Conv2D', { padding: { s: 'RVhQTElDSVQ=' } }), /node answer .* in another way/],
  [
    'a size that is not constant',
    graphOf('ResizeBilinear', { half_pixel_centers: { b: false } }),
    /resizes in another way/,
  ],
  ['a reference to nothing', createGraph().files(), /no node answer/],
])('%s is named', (_, files, message) => {
  expect(() => translated(files)).toThrow(
    expect.objectContaining({ code: 'model_unsupported', message: expect.stringMatching(message) }),
  )
})

test.each([
  ['a missing file', (files: Map<string, Buffer>) => files.delete('second.bin'), /second\.bin is missing/],
  [
    'a file that is cut off',
    (files) => files.set('second.bin', Buffer.alloc(100)),
    /ends within the constant constant_/,
  ],
  [
    'a file that is too long',
    (files) => files.set('second.bin', Buffer.alloc(100_000)),
    /more bytes than model\.json says/,
  ],
] satisfies [string, (files: Map<string, Buffer>) => unknown, RegExp][])('%s is named', (_, change, message) => {
  const files = everyOperation()
  change(files)
  expect(() => translated(files)).toThrow(
    expect.objectContaining({ code: 'model_archive_invalid', message: expect.stringMatching(message) }),
  )
})
