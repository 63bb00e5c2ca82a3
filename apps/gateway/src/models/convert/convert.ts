/**
 * Models of TensorFlow.js as ONNX files of the layout `yolov8`: RGB from 0 to 1, `[1, 4 + classes, places]`. What a
 * model was trained with before the picture, and what its boxes mean, become part of the graph.
 */
import { FEATURES } from '@hedgerow/vision'
import type { ModelFamily } from '../schema.ts'
import { OnnxGraph } from './onnx-graph.ts'
import { readTensorFlow, type TensorFlowModel } from './tensorflow.ts'
import { translate, type Value } from './translation.ts'

/**
 * `files` holds `main`, which is the graph, and the files beside it. The same files give the same bytes. Throws
 * ModelError.
 */
export function convert(family: ModelFamily, files: ReadonlyMap<string, Buffer>, main: string): Buffer {
  const graph = new OnnxGraph()
  const { side, decode } = families[family]
  const picture = graph.input('images', [1, 3, side, side])
  const { columns, classes, places, features } = decode(graph, picture, readTensorFlow(files, main))
  const rows = graph.node('Concat', columns, { axis: 2 })
  const transposed = graph.node('Transpose', [rows], { perm: [0, 2, 1] })
  graph.output('output0', transposed, [1, 4 + classes, places])
  if (features) graph.output(FEATURES, features.name, features.shape)
  return graph.toFile()
}

/**
 * `columns` together have a row for each place: the box in pixels, then a score for each class. `features`: the
 * detector's last map of the whole picture, from which a gateway learns names.
 */
type Decoded = { columns: string[]; classes: number; places: number; features?: Value }
type Decode = (graph: OnnxGraph, picture: string, model: TensorFlowModel) => Decoded

const families: Readonly<Record<ModelFamily, { side: number; decode: Decode }>> = {
  'ssdlite-mobilenet-v2': { side: 300, decode: ssdlite },
  'nanodet-g': { side: 416, decode: nanodet },
}

/** The numbers of one column, as factors or summands for all places. */
const column = (graph: OnnxGraph, numbers: readonly number[]) => graph.floats(numbers, [1, numbers.length, 1])
const scalar = (graph: OnnxGraph, value: number) => graph.floats([value], [1])
const take = (graph: OnnxGraph, rows: string, index: number) =>
  graph.node('Gather', [rows, graph.integers([index])], { axis: 2 })

/** TensorFlow's model zoo, 2018-05-09: anchors on six maps; class 0 is the background, the others COCO's numbers. */
function ssdlite(graph: OnnxGraph, picture: string, model: TensorFlowModel): Decoded {
  const [side, classes] = [300, 91]
  const scaled = graph.node('Sub', [graph.node('Mul', [picture, scalar(graph, 2)]), scalar(graph, 1)])
  const { value, numbers } = translate(graph, model, {
    'Preprocessor/sub': { name: scaled, shape: [1, side, side, 3], channelsFirst: true },
  })
  const maps = (head: string, columns: number) =>
    graph.node(
      'Concat',
      [0, 1, 2, 3, 4, 5].map((map) => {
        const { name } = value(`BoxPredictor_${map}/${head}/BiasAdd`)
        return graph.node('Reshape', [name, graph.integers([1, -1, columns])])
      }),
      { axis: 1 },
    )
  // Four numbers an anchor: top, left, bottom, right.
  const corners = numbers('Postprocessor/ExpandDims')
  const places = corners.length / 4
  const ends = (end: number) => Array.from({ length: places }, (_, place) => corners[place * 4 + end]!)
  const encodings = maps('BoxEncodingPredictor', 4)
  function axis(from: number): { centre: string; length: string } {
    const [low, high] = [ends(from), ends(from + 2)]
    const lengths = high.map((end, i) => (end - low[i]!) * side)
    const middles = high.map((end, i) => ((end + low[i]!) / 2) * side)
    const moved = graph.node('Mul', [
      take(graph, encodings, from),
      column(
        graph,
        lengths.map((each) => each / 10),
      ),
    ])
    const grown = graph.node('Exp', [graph.node('Mul', [take(graph, encodings, from + 2), scalar(graph, 1 / 5)])])
    return {
      centre: graph.node('Add', [moved, column(graph, middles)]),
      length: graph.node('Mul', [grown, column(graph, lengths)]),
    }
  }
  const [down, across] = [axis(0), axis(1)]
  const scores = graph.node('Sigmoid', [maps('ClassPredictor', classes)])
  const foreground = graph.floats([0, ...Array.from({ length: classes - 1 }, () => 1)], [classes])
  const columns = [across.centre, down.centre, across.length, down.length, graph.node('Mul', [scores, foreground])]
  return { columns, classes, places, features: value('FeatureExtractor/MobilenetV2/Conv_1/Relu6') }
}

/** NanoDet-g: three maps; each side of a box is the mean of a distribution over eleven distances. */
function nanodet(graph: OnnxGraph, picture: string, model: TensorFlowModel): Decoded {
  const [side, classes, bins] = [416, 80, 11]
  const { value } = translate(graph, model, {
    input_1: { name: normalised(graph, picture), shape: [1, 3, side, side], channelsFirst: false },
  })
  const maps = [8, 16, 32].map((stride, map) => {
    const cells = side / stride
    const places = cells * cells
    const scores = value(map === 0 ? 'Identity' : `Identity_${map}`).name
    const shares = graph.node('Reshape', [value(`Identity_${map + 3}`).name, graph.integers([1, places, 4, bins])])
    const distances = graph.floats(
      Array.from({ length: bins }, (_, i) => i * stride),
      [bins, 1],
    )
    const means = graph.node('MatMul', [graph.node('Softmax', [shares], { axis: 3 }), distances])
    const ends = graph.node('Reshape', [means, graph.integers([1, places, 4])])
    function axis(low: number, middles: number[]): { centre: string; length: string } {
      const [before, after] = [take(graph, ends, low), take(graph, ends, low + 2)]
      const half = graph.node('Mul', [graph.node('Sub', [after, before]), scalar(graph, 0.5)])
      return { centre: graph.node('Add', [half, column(graph, middles)]), length: graph.node('Add', [before, after]) }
    }
    const middle = (cell: number) => (cell + 0.5) * stride
    const across = axis(
      0,
      Array.from({ length: places }, (_, place) => middle(place % cells)),
    )
    const down = axis(
      1,
      Array.from({ length: places }, (_, place) => middle(Math.floor(place / cells))),
    )
    const columns = [across.centre, down.centre, across.length, down.length, scores]
    return { places, rows: graph.node('Concat', columns, { axis: 2 }) }
  })
  const rows = graph.node(
    'Concat',
    maps.map((map) => map.rows),
    { axis: 1 },
  )
  return { columns: [rows], classes, places: maps.reduce((sum, map) => sum + map.places, 0) }
}

/** Bytes of blue, green and red, less their mean, in deviations: NanoDet's `normalize`. */
function normalised(graph: OnnxGraph, picture: string): string {
  const [mean, deviation] = [
    [103.53, 116.28, 123.675],
    [57.375, 57.12, 58.395],
  ] as const
  const bgr = graph.node('Gather', [picture, graph.integers([2, 1, 0])], { axis: 1 })
  const scale = graph.floats(
    deviation.map((each) => 255 / each),
    [1, 3, 1, 1],
  )
  const shift = graph.floats(
    deviation.map((each, i) => -mean[i]! / each),
    [1, 3, 1, 1],
  )
  return graph.node('Add', [graph.node('Mul', [bgr, scale]), shift])
}
