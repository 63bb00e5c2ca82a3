/**
 * A graph with the layers of YOLOX-Nano (Ge et al. 2021: depth 0.33, width 0.25, depthwise convolutions; 0.91 million
 * weights) and random weights: as much work as the real one, but without any recognition.
 */
import { OnnxGraph } from '../../../apps/gateway/src/models/convert/onnx-graph.ts'

const SIDE = 416
const CLASSES = 80
const WIDTH = 64

/** The same bytes each time. */
export function yoloxNanoSized(): { bytes: Buffer; weights: number } {
  const graph = new OnnxGraph()
  const random = drawer(1)
  let weights = 0

  function convolution(input: string, from: number, to: number, kernel: number, stride = 1, groups = 1): string {
    const count = (to * from * kernel * kernel) / groups
    const spread = Math.sqrt(2 / ((from / groups) * kernel * kernel))
    const values = Float32Array.from({ length: count }, () => (random() - 0.5) * 2 * spread)
    weights += count + to
    const pad = Math.floor((kernel - (stride === kernel ? stride : 1)) / 2)
    const attributes = {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      group: groups,
    }
    const weight = graph.floats(values, [to, from / groups, kernel, kernel])
    const bias = graph.floats(new Float32Array(to), [to])
    return graph.node('Conv', [input, weight, bias], attributes)
  }
  const silu = (input: string) => graph.node('Mul', [input, graph.node('Sigmoid', [input])])
  const point = (input: string, from: number, to: number) => silu(convolution(input, from, to, 1))
  const separable = (input: string, from: number, to: number, stride = 1) =>
    point(silu(convolution(input, from, from, 3, stride, from)), from, to)
  const join = (...inputs: string[]) => graph.node('Concat', inputs, { axis: 1 })

  /** Cross-stage partial layer. */
  function partial(input: string, from: number, to: number, depth: number, adds: boolean): string {
    const half = to / 2
    let deep = point(input, from, half)
    for (let i = 0; i < depth; i++) {
      const next = separable(point(deep, half, half), half, half)
      deep = adds ? graph.node('Add', [next, deep]) : next
    }
    return point(join(deep, point(input, from, half)), to, to)
  }

  function pooled(input: string): string {
    const half = point(input, 256, 128)
    const pools = [5, 9, 13].map((kernel) => {
      const pad = (kernel - 1) / 2
      return graph.node('MaxPool', [half], {
        kernel_shape: [kernel, kernel],
        strides: [1, 1],
        pads: [pad, pad, pad, pad],
      })
    })
    return point(join(half, ...pools), 512, 256)
  }

  const scales = graph.floats([1, 1, 2, 2], [4])
  const none = graph.floats([], [0])
  const twice = (input: string) =>
    graph.node('Resize', [input, none, scales], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    })

  const picture = graph.input('images', [1, 3, SIDE, SIDE])
  // The original slices every second pixel four times; a convolution of 2 x 2 is as much work.
  const stem = silu(convolution(convolution(picture, 3, 12, 2, 2), 12, 16, 3))
  const dark2 = partial(separable(stem, 16, 32, 2), 32, 32, 1, true)
  const dark3 = partial(separable(dark2, 32, 64, 2), 64, 64, 3, true)
  const dark4 = partial(separable(dark3, 64, 128, 2), 128, 128, 3, true)
  const dark5 = partial(pooled(separable(dark4, 128, 256, 2)), 256, 256, 1, false)

  const top = point(dark5, 256, 128)
  const middle = point(partial(join(twice(top), dark4), 256, 128, 1, false), 128, 64)
  const fine = partial(join(twice(middle), dark3), 128, 64, 1, false)
  const coarse = partial(join(separable(fine, 64, 64, 2), middle), 128, 128, 1, false)
  const coarsest = partial(join(separable(coarse, 128, 128, 2), top), 256, 256, 1, false)

  const levels = [fine, coarse, coarsest].map((input, level) => {
    const shared = point(input, 64 << level, WIDTH)
    const twoOf = (from: string) => separable(separable(from, WIDTH, WIDTH), WIDTH, WIDTH)
    const [forClasses, forBoxes] = [twoOf(shared), twoOf(shared)]
    const classes = graph.node('Sigmoid', [convolution(forClasses, WIDTH, CLASSES, 1)])
    const objectness = graph.node('Sigmoid', [convolution(forBoxes, WIDTH, 1, 1)])
    const all = join(convolution(forBoxes, WIDTH, 4, 1), objectness, classes)
    return graph.node('Reshape', [all, graph.integers([1, 5 + CLASSES, -1])])
  })
  const rows = graph.node('Transpose', [graph.node('Concat', levels, { axis: 2 })], { perm: [0, 2, 1] })
  graph.output('output', rows, [1, 3_549, 5 + CLASSES])
  return { bytes: graph.toFile(), weights }
}

/** Numbers from 0 to below 1 (Marsaglia 2003, xorshift of 32 bits). */
function drawer(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
