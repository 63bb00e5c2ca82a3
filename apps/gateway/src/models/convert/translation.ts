/**
 * Translates the nodes of a TensorFlow.js graph into ONNX, as far as the models that are known by name need it.
 * TensorFlow keeps the channels of a picture last, ONNX's convolutions first: a value says how it is stored, so that
 * most transpositions fall away.
 */
import { ModelError } from '../model-error.ts'
import type { OnnxGraph } from './onnx-graph.ts'
import { sizeOf, type Constant, type TensorFlowModel, type TensorFlowNode } from './tensorflow.ts'

/** `shape` is TensorFlow's. */
export type Value = { readonly name: string; readonly shape: readonly number[]; readonly channelsFirst: boolean }

const TO_FIRST = [0, 3, 1, 2]
const TO_LAST = [0, 2, 3, 1]

export type Translation = {
  /** A node's value with the axes in TensorFlow's order. Throws ModelError. */
  value(name: string): Value
  /** The numbers of a constant. Throws ModelError. */
  numbers(name: string): number[]
}

export function translate(
  graph: OnnxGraph,
  { nodes, constants }: TensorFlowModel,
  inputs: Readonly<Record<string, Value>>,
): Translation {
  const values = new Map(Object.entries(inputs))

  function nodeOf(name: string): TensorFlowNode {
    const found = nodes.get(name)
    if (!found) throw unsupported(`The graph has no node ${name}.`)
    return found
  }

  /** A constant, or integers that the graph computes from constants. */
  function constantOf(name: string): Constant | undefined {
    const { op, input } = nodes.get(name) ?? { op: undefined, input: [] }
    if (op === 'Const') return constants.get(name)
    if (op !== 'SparseToDense' && op !== 'AddV2') return undefined
    const parts = input.map(constantOf)
    if (!parts.every((part) => part?.kind === 'int32')) return undefined
    const [first, second, third, filling] = parts.map((part) => [...part!.data])
    if (op === 'AddV2') {
      const data = Int32Array.from(first!, (number, i) => number + second![second!.length === 1 ? 0 : i]!)
      return { kind: 'int32', shape: [data.length], data }
    }
    const data = new Int32Array(second![0]!).fill(filling![0]!)
    for (const [i, index] of first!.entries()) data[index] = third![Math.min(i, third!.length - 1)]!
    return { kind: 'int32', shape: [data.length], data }
  }

  function constant(name: string): Constant {
    const found = constantOf(name)
    if (!found) throw unsupported(`The node ${name} of the graph is not constant.`)
    return found
  }

  function numbers(name: string): number[] {
    return [...constant(name).data]
  }

  const put = (found: Constant): string =>
    found.kind === 'float16' ? graph.halves(found.data, found.shape) : graph.floats(found.data, found.shape)

  function putBeside(found: Constant, channelsFirst: boolean): string {
    if (!channelsFirst || found.shape.length === 0) return put(found)
    if (found.shape.length === 4) return put(permuted(found, TO_FIRST))
    if (found.shape.length === 1) return put({ ...found, shape: [found.shape[0]!, 1, 1] })
    throw unsupported(`A constant of the graph has ${found.shape.length} axes beside a picture.`)
  }

  function channelsLast(value: Value): Value {
    if (!value.channelsFirst) return value
    return { ...value, name: graph.node('Transpose', [value.name], { perm: TO_LAST }), channelsFirst: false }
  }

  function channelsFirst(value: Value): Value {
    if (value.channelsFirst || value.shape.length !== 4) return value
    return { ...value, name: graph.node('Transpose', [value.name], { perm: TO_FIRST }), channelsFirst: true }
  }

  /** A value as it is stored. */
  function stored(reference: string): Value {
    const [name = '', output = '0'] = reference.split(':')
    const key = output === '0' ? name : reference
    const cached = values.get(key)
    if (cached) return cached
    const node = nodeOf(name)
    const operation = Object.hasOwn(operations, node.op) ? operations[node.op]! : undefined
    if (!operation)
      throw unsupported(`The graph has the operation ${node.op} (${name}), which this version cannot convert.`)
    const made = operation(node)
    for (const [i, value] of [made].flat().entries()) values.set(i === 0 ? name : `${name}:${i}`, value)
    const value = values.get(key)
    if (!value) throw unsupported(`The node ${name} of the graph has no output ${output}.`)
    return value
  }

  const unary =
    (operator: string) =>
    ({ input }: TensorFlowNode): Value => {
      const value = stored(input[0]!)
      return { ...value, name: graph.node(operator, [value.name]) }
    }

  const binary =
    (operator: 'Add' | 'Mul') =>
    ({ input, name }: TensorFlowNode): Value => {
      if (input.length !== 2) throw unsupported(`The node ${name} of the graph has ${input.length} inputs, not two.`)
      const parts = input.map((each) => constantOf(each.split(':')[0]!) ?? stored(each))
      const isFirst = parts.some((part) => 'name' in part && part.channelsFirst)
      const names = parts.map((part) => {
        if (!('name' in part)) return putBeside(part, isFirst)
        return isFirst ? channelsFirst(part).name : part.name
      })
      const shape = broadcast(parts[0]!.shape, parts[1]!.shape)
      return { name: graph.node(operator, names), shape, channelsFirst: isFirst }
    }

  function convolution({ op, name, input, attr }: TensorFlowNode): Value {
    const picture = channelsFirst(stored(input[0]!))
    const kernel = constant(input[1]!)
    const [height, width, from, times] = kernel.shape as [number, number, number, number]
    const isDepthwise = op === 'DepthwiseConv2dNative'
    const weight = isDepthwise
      ? permuted({ ...kernel, shape: [height, width, from * times, 1] }, [2, 3, 0, 1])
      : permuted(kernel, [3, 2, 0, 1])
    const strides = sides(attr['strides'])
    const dilations = sides(attr['dilations'])
    const { pads, out } = window(name, attr, picture.shape, { kernel: [height, width], strides, dilations })
    const group = isDepthwise ? from : 1
    const options = { kernel_shape: [height, width], strides, dilations, pads, group }
    const shape = [picture.shape[0]!, ...out, weight.shape[0]!]
    return { name: graph.node('Conv', [picture.name, put(weight)], options), shape, channelsFirst: true }
  }

  function padding({ op, input }: TensorFlowNode): Value {
    const value = stored(input[0]!)
    const pads = numbers(input[1]!)
    const order = value.channelsFirst ? TO_FIRST : value.shape.map((_, axis) => axis)
    const ends = [0, 1].flatMap((end) => order.map((axis) => pads[axis * 2 + end]!))
    // TensorFlow pads with the least number before it takes the greatest.
    const filling = op === 'PadV2' ? Math.max(numbers(input[2]!)[0]!, -3.4e38) : 0
    const shape = value.shape.map((length, axis) => length + pads[axis * 2]! + pads[axis * 2 + 1]!)
    return { ...value, shape, name: graph.node('Pad', [value.name, graph.integers(ends), graph.floats([filling], [])]) }
  }

  const operations: Readonly<Record<string, (node: TensorFlowNode) => Value | Value[]>> = {
    Identity: ({ input }) => stored(input[0]!),
    Sigmoid: unary('Sigmoid'),
    Relu6({ input }) {
      const value = stored(input[0]!)
      return { ...value, name: graph.node('Clip', [value.name, graph.floats([0], []), graph.floats([6], [])]) }
    },
    LeakyRelu({ input, attr }) {
      const value = stored(input[0]!)
      return { ...value, name: graph.node('LeakyRelu', [value.name], { alpha: { float: attr['alpha']!.f! } }) }
    },
    Add: binary('Add'),
    AddV2: binary('Add'),
    AddN: binary('Add'),
    BiasAdd: binary('Add'),
    Mul: binary('Mul'),
    Conv2D: convolution,
    DepthwiseConv2dNative: convolution,
    Pad: padding,
    PadV2: padding,
    FusedBatchNorm({ input, attr }) {
      const value = channelsFirst(stored(input[0]!))
      const [scale, offset, mean, variance] = input.slice(1, 5).map(numbers) as [number[], number[], number[], number[]]
      const factor = scale.map((each, i) => each / Math.sqrt(variance[i]! + attr['epsilon']!.f!))
      const shift = offset.map((each, i) => each - mean[i]! * factor[i]!)
      const channels = [factor.length, 1, 1]
      const scaled = graph.node('Mul', [value.name, graph.floats(factor, channels)])
      return { ...value, name: graph.node('Add', [scaled, graph.floats(shift, channels)]) }
    },
    MaxPool({ name, input, attr }) {
      const value = channelsFirst(stored(input[0]!))
      const [kernel, strides] = [sides(attr['ksize']), sides(attr['strides'])]
      const { pads, out } = window(name, attr, value.shape, { kernel, strides, dilations: [1, 1] })
      const pooled = graph.node('MaxPool', [value.name], { kernel_shape: kernel, strides, pads })
      return { name: pooled, shape: [value.shape[0]!, ...out, value.shape[3]!], channelsFirst: true }
    },
    Transpose({ input }) {
      const value = stored(input[0]!)
      const perm = numbers(input[1]!)
      const shape = perm.map((axis) => value.shape[axis]!)
      if (!value.channelsFirst && isSame(perm, TO_LAST)) return { name: value.name, shape, channelsFirst: true }
      if (value.channelsFirst && isSame(perm, TO_FIRST)) return { name: value.name, shape, channelsFirst: false }
      return { name: graph.node('Transpose', [channelsLast(value).name], { perm }), shape, channelsFirst: false }
    },
    Reshape({ input }) {
      const value = channelsLast(stored(input[0]!))
      const wanted = numbers(input[1]!)
      const fixedSize = sizeOf(wanted.filter((length) => length >= 0))
      const shape = wanted.map((length) => (length < 0 ? sizeOf(value.shape) / fixedSize : length))
      return { name: graph.node('Reshape', [value.name, graph.integers(shape)]), shape, channelsFirst: false }
    },
    ConcatV2({ input }) {
      const parts = input.slice(0, -1).map(stored)
      const isFirst = parts.some((part) => part.channelsFirst)
      const names = parts.map((part) => (isFirst ? channelsFirst(part) : part).name)
      const { shape: first } = parts[0]!
      const axis = (numbers(input.at(-1)!)[0]! + first.length) % first.length
      const shape = first.with(
        axis,
        parts.reduce((sum, part) => sum + part.shape[axis]!, 0),
      )
      const name = graph.node('Concat', names, { axis: isFirst ? TO_FIRST.indexOf(axis) : axis })
      return { name, shape, channelsFirst: isFirst }
    },
    ResizeBilinear({ name, input, attr }) {
      if (!attr['half_pixel_centers']?.b || attr['align_corners']?.b)
        throw unsupported(`The node ${name} of the graph resizes in another way than by half pixels.`)
      const value = channelsFirst(stored(input[0]!))
      const [batch, , , channels] = value.shape as [number, number, number, number]
      const [height, width] = numbers(input[1]!) as [number, number]
      const sizes = graph.integers([batch, channels, height, width])
      const resized = graph.node('Resize', [value.name, '', '', sizes], { mode: 'linear' })
      return { name: resized, shape: [batch, height, width, channels], channelsFirst: true }
    },
    SplitV({ input }) {
      const value = channelsLast(stored(input[0]!))
      const lengths = numbers(input[1]!)
      const axis = numbers(input[2]!)[0]!
      let from = 0
      return lengths.map((length) => {
        const ends = [from, (from += length), axis].map((each) => graph.integers([each]))
        return {
          name: graph.node('Slice', [value.name, ...ends]),
          shape: value.shape.with(axis, length),
          channelsFirst: false,
        }
      })
    },
  }

  return { value: (name) => channelsLast(stored(name)), numbers }
}

const unsupported = (message: string) => new ModelError('model_unsupported', message)

const isSame = (a: readonly number[], b: readonly number[]) => a.length === b.length && a.every((n, i) => n === b[i])

/** Height and width of an attribute with one number for each axis. */
function sides(attribute: TensorFlowNode['attr'][string] | undefined): [number, number] {
  const [, height = 1, width = 1] = attribute?.list?.i ?? []
  return [height, width]
}

type Window = Readonly<Record<'kernel' | 'strides' | 'dilations', readonly [number, number]>>

/** What a window adds around a picture, and how many places it has. */
function window(name: string, attr: TensorFlowNode['attr'], shape: readonly number[], window: Window) {
  const padding = attr['padding']?.s
  if ((padding !== 'SAME' && padding !== 'VALID') || (attr['data_format']?.s ?? 'NHWC') !== 'NHWC')
    throw unsupported(`The node ${name} of the graph pads or stores its picture in another way.`)
  const ends = [0, 1].map((i) => {
    const side = shape[i + 1]!
    const [stride, reach] = [window.strides[i]!, (window.kernel[i]! - 1) * window.dilations[i]! + 1]
    if (padding === 'VALID') return { out: Math.ceil((side - reach + 1) / stride), before: 0, after: 0 }
    const out = Math.ceil(side / stride)
    const total = Math.max(0, (out - 1) * stride + reach - side)
    return { out, before: Math.floor(total / 2), after: Math.ceil(total / 2) }
  })
  return { pads: [...ends.map((end) => end.before), ...ends.map((end) => end.after)], out: ends.map((end) => end.out) }
}

/** A constant of four axes, in another order. */
function permuted(constant: Constant, order: readonly number[]): Constant {
  const shape = order.map((axis) => constant.shape[axis]!)
  const steps = order.map((axis) => sizeOf(constant.shape.slice(axis + 1)))
  const data = constant.data.slice()
  const [first, second, third, fourth] = shape as [number, number, number, number]
  let at = 0
  for (let a = 0; a < first; a++)
    for (let b = 0; b < second; b++)
      for (let c = 0; c < third; c++)
        for (let d = 0; d < fourth; d++)
          data[at++] = constant.data[a * steps[0]! + b * steps[1]! + c * steps[2]! + d * steps[3]!]!
  return { ...constant, shape, data } as Constant
}

function broadcast(a: readonly number[], b: readonly number[]): number[] {
  const axes = Math.max(a.length, b.length)
  const at = (shape: readonly number[], i: number) => shape[i - axes + shape.length] ?? 1
  return Array.from({ length: axes }, (_, i) => Math.max(at(a, i), at(b, i)))
}
