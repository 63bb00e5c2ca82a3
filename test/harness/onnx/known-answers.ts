/**
 * One model for each output layout whose right answer is known: it finds the red rectangle of its input, exactly to the
 * pixel, and answers like models of its layout. It finds nothing when the channels are swapped or the input is scaled
 * wrongly for its layout.
 */
import { FEATURES, layouts, type LayoutName } from '@hedgerow/vision'
import { OnnxGraph, type Dimension } from '../../../apps/gateway/src/models/convert/onnx-graph.ts'

export const RED = [255, 0, 0] as const
/** The grey of everything else. */
export const GREY = 114
/** A model's score for the red rectangle. */
export const SCORE = 0.875
const CLASSES = 5
/** The class of the rectangle, in a manifest with five labels. */
export const RED_CLASS = 3

export type KnownAnswerOptions = {
  size: { width: number; height: number }
  /** `n` for a model that accepts several pictures at once. */
  batch?: Dimension
  classes?: number
  /** Whether it gives out features: the colours of its input. */
  features?: boolean
}

export function knownAnswerModel(layout: LayoutName, options: KnownAnswerOptions): Buffer {
  const { size, batch = 1, classes = CLASSES } = options
  const graph = new OnnxGraph()
  const picture = graph.input('images', [batch, 3, size.height, size.width])
  const found = findRed(graph, layout, picture)
  const parts = { graph, found, classes, size, batch }
  writers[layout](parts)
  if (options.features) {
    const colours = graph.node('Transpose', [picture], { perm: [0, 2, 3, 1] })
    graph.output(FEATURES, colours, [batch, size.height, size.width, 3])
  }
  return graph.toFile()
}

/** Each has the shape [pictures, 1] and is in pixels of the input; `score` is 0 or SCORE. */
type Found = { x: string; y: string; width: string; height: string; score: string }
type Parts = {
  graph: OnnxGraph
  found: Found
  classes: number
  size: { width: number; height: number }
  batch: Dimension
}

function findRed(graph: OnnxGraph, layout: LayoutName, picture: string): Found {
  const { channels, normalise } = layouts[layout]
  const asInput = (byte: number, channel: number) =>
    normalise ? (byte / 255 - normalise.mean[channel]!) / normalise.deviation[channel]! : byte
  const scalar = (value: number) => graph.floats([value], [1])
  const plane = (channel: number) => {
    const index = graph.integers([channels === 'rgb' ? channel : 2 - channel])
    return graph.node('Gather', [picture, index], { axis: 1 })
  }
  const isAbove = (value: string, least: number) =>
    graph.node('Cast', [graph.node('Greater', [value, scalar(least)])], { to: 1 })
  // A pixel at the edge is mixed: it belongs to the rectangle when at least half of it is red.
  const red = isAbove(plane(0), asInput((RED[0] + GREY) / 2, 0))
  const blue = isAbove(plane(2), asInput((RED[2] + GREY) / 2, 2))
  const mask = graph.node('Mul', [red, graph.node('Sub', [scalar(1), blue])])
  const first = (axis: number, fromEnd: 0 | 1) => {
    const profile = graph.node('ReduceMax', [mask], { axes: [axis === 3 ? 2 : 3], keepdims: 0 })
    const index = graph.node('ArgMax', [profile], { axis: 2, keepdims: 0, select_last_index: fromEnd })
    return graph.node('Cast', [index], { to: 1 })
  }
  const ends = (axis: number) => {
    const from = first(axis, 0)
    const to = graph.node('Add', [first(axis, 1), scalar(1)])
    const length = graph.node('Sub', [to, from])
    const middle = graph.node('Mul', [graph.node('Add', [from, to]), scalar(0.5)])
    return { middle, length }
  }
  const across = ends(3)
  const down = ends(2)
  // The reddest pixel is 255 in the layout's scale, except for the losses of JPEG.
  const reddest = graph.node('ReduceMax', [graph.node('Mul', [plane(0), mask])], { axes: [2, 3], keepdims: 0 })
  const off = graph.node('Abs', [graph.node('Sub', [reddest, scalar(asInput(255, 0))])])
  const isRed = graph.node('Sub', [scalar(1), isAbove(off, asInput(255, 0) - asInput(250, 0))])
  return {
    x: across.middle,
    y: down.middle,
    width: across.length,
    height: down.length,
    score: graph.node('Mul', [isRed, scalar(SCORE)]),
  }
}

const scaled = ({ graph }: Parts, value: string, factor: number) =>
  graph.node('Mul', [value, graph.floats([factor], [1])])

/** [pictures, classes]: the score of the rectangle's class, `least` for the others. */
function classScores(parts: Parts, score: string, least: number): string[] {
  const { graph, found, classes } = parts
  const other = graph.node('Add', [scaled(parts, found.score, 0), graph.floats([least], [1])])
  return Array.from({ length: classes }, (_, k) => (k === RED_CLASS ? score : other))
}

/** One row for the found object, and `count - 1` rows of `filler` after it: [pictures, count, columns]. */
function rowsOf({ graph }: Parts, columns: string[], count: number, filler: number): string {
  const row = graph.node('Unsqueeze', [graph.node('Concat', columns, { axis: 1 }), graph.integers([1])])
  const nothing = graph.node('Add', [graph.node('Mul', [row, graph.floats([0], [1])]), graph.floats([filler], [1])])
  const repeats = graph.integers([1, count - 1, 1])
  return graph.node('Concat', [row, graph.node('Tile', [nothing, repeats])], { axis: 1 })
}

/** The inverse of the sigmoid, for scores of 0 and SCORE. */
function logits(parts: Parts): string {
  const { graph, found } = parts
  const atScore = Math.log(SCORE / (1 - SCORE))
  return graph.node('Add', [scaled(parts, found.score, (atScore + 10) / SCORE), graph.floats([-10], [1])])
}

const QUERIES = 300

function queries(parts: Parts): { scores: string; boxes: string } {
  const { found, size } = parts
  const box = [
    scaled(parts, found.x, 1 / size.width),
    scaled(parts, found.y, 1 / size.height),
    scaled(parts, found.width, 1 / size.width),
    scaled(parts, found.height, 1 / size.height),
  ]
  const scores = rowsOf(parts, classScores(parts, logits(parts), -10), QUERIES, -10)
  return { scores, boxes: rowsOf(parts, box, QUERIES, 0) }
}

const writers: Record<LayoutName, (parts: Parts) => void> = {
  yolox(parts) {
    const { graph, found, size, classes, batch } = parts
    const places = [8, 16, 32].reduce(
      (sum, stride) => sum + Math.floor(size.width / stride) * Math.floor(size.height / stride),
      0,
    )
    const log = (value: string) => graph.node('Log', [scaled(parts, value, 1 / 8)])
    const columns = [
      scaled(parts, found.x, 1 / 8),
      scaled(parts, found.y, 1 / 8),
      log(found.width),
      log(found.height),
      scaled(parts, found.score, 1 / SCORE),
      ...classScores(parts, found.score, 0),
    ]
    graph.output('output', rowsOf(parts, columns, places, 0), [batch, places, 5 + classes])
  },
  detr(parts) {
    const { scores, boxes } = queries(parts)
    parts.graph.output('logits', scores, [parts.batch, QUERIES, parts.classes])
    parts.graph.output('boxes', boxes, [parts.batch, QUERIES, 4])
  },
  'rf-detr'(parts) {
    const { scores, boxes } = queries(parts)
    parts.graph.output('dets', boxes, [parts.batch, QUERIES, 4])
    parts.graph.output('labels', scores, [parts.batch, QUERIES, parts.classes])
  },
  yolov5(parts) {
    const { graph, found, classes, batch } = parts
    const columns = [found.x, found.y, found.width, found.height, scaled(parts, found.score, 1 / SCORE)]
    const rows = rowsOf(parts, [...columns, ...classScores(parts, found.score, 0)], 100, 0)
    graph.output('output', rows, [batch, 100, 5 + classes])
  },
  yolov8(parts) {
    const { graph, found, classes, batch } = parts
    const columns = [found.x, found.y, found.width, found.height, ...classScores(parts, found.score, 0)]
    const rows = rowsOf(parts, columns, 100, 0)
    graph.output('output0', graph.node('Transpose', [rows], { perm: [0, 2, 1] }), [batch, 4 + classes, 100])
  },
}
