/**
 * Transformers that give a set: one row a query, at most one for each object, so nothing has to be thinned out. Scores
 * are logits; boxes are centre and sides in shares of the input.
 *
 * D-FINE (Peng et al. 2024) and RT-DETR (Zhao et al. 2024): RGB from 0 to 1, stretched. RF-DETR (Robinson et al. 2025):
 * ImageNet's mean and deviation, stretched, boxes first; its classes are COCO's category numbers, 0 unused.
 */
import type { Candidate } from '../non-maximum-suppression.ts'
import { boxOfCentre, greatestOf, IMAGENET, UNIT, type Layout } from './layout.ts'
import { lengthsOf, type Tensor } from './tensor.ts'

export const detr: Layout = {
  fit: 'stretch',
  channels: 'rgb',
  normalise: UNIT,
  outputs: ['logits', 'boxes'],
  repeats: false,
  classes: ([logits]) => lengthsOf('of scores', logits, [1, undefined, undefined])[2]!,
  decode: ([logits, boxes], _size, leastScore) => decodeQueries(logits, boxes, leastScore),
}

export const rfDetr: Layout = {
  fit: 'stretch',
  channels: 'rgb',
  normalise: IMAGENET,
  outputs: ['dets', 'labels'],
  repeats: false,
  classes: ([, logits]) => lengthsOf('of scores', logits, [1, undefined, undefined])[2]!,
  decode: ([boxes, logits], _size, leastScore) => decodeQueries(logits, boxes, leastScore),
}

function decodeQueries(logits: Tensor | undefined, boxes: Tensor | undefined, leastScore: number): Candidate[] {
  const [, queries, classes] = lengthsOf('of scores', logits, [1, undefined, undefined])
  lengthsOf('of boxes', boxes, [1, queries, 4])
  const candidates: Candidate[] = []
  for (let query = 0; query < queries!; query++) {
    const { index, value } = greatestOf(logits!.data, query * classes!, classes!, 1)
    const score = 1 / (1 + Math.exp(-value))
    if (!(score >= leastScore)) continue
    const [x, y, width, height] = boxes!.data.subarray(query * 4)
    const box = boxOfCentre(x!, y!, width!, height!)
    if (box) candidates.push({ box, classIndex: index, score })
  }
  return candidates
}
