/**
 * YOLOX (Ge et al. 2021): no anchors. For strides of 8, 16 and 32 one row for each cell of the input, row by row of
 * cells: centre relative to the cell in strides, logarithms of the sides in strides, objectness, one score a class,
 * both after the sigmoid. Input: BGR bytes, scaled into the top left corner.
 */
import type { Candidate } from '../non-maximum-suppression.ts'
import { boxOfCentre, greatestOf, type Layout } from './layout.ts'
import { LayoutError, lengthsOf } from './tensor.ts'

const STRIDES = [8, 16, 32]
const BEFORE_CLASSES = 5

export const yolox: Layout = {
  fit: 'top-left',
  channels: 'bgr',
  normalise: undefined,
  outputs: ['output'],
  repeats: true,
  classes: ([output]) => classesOf(lengthsOf('output', output, [1, undefined, undefined])[2]!),
  decode([output], { width, height }, leastScore) {
    const cells = STRIDES.reduce((sum, stride) => sum + Math.floor(width / stride) * Math.floor(height / stride), 0)
    const length = lengthsOf('output', output, [1, cells, undefined])[2]!
    classesOf(length)
    const { data } = output!
    const candidates: Candidate[] = []
    let row = 0
    for (const stride of STRIDES)
      for (let y = 0; y < Math.floor(height / stride); y++)
        for (let x = 0; x < Math.floor(width / stride); x++, row += length) {
          const { index, value } = greatestOf(data, row + BEFORE_CLASSES, length - BEFORE_CLASSES, 1)
          const score = data[row + 4]! * value
          if (!(score >= leastScore)) continue
          const box = boxOfCentre(
            ((data[row]! + x) * stride) / width,
            ((data[row + 1]! + y) * stride) / height,
            (Math.exp(data[row + 2]!) * stride) / width,
            (Math.exp(data[row + 3]!) * stride) / height,
          )
          if (box) candidates.push({ box, classIndex: index, score })
        }
    return candidates
  },
}

function classesOf(length: number): number {
  if (length <= BEFORE_CLASSES) throw new LayoutError('the model has no classes')
  return length - BEFORE_CLASSES
}
