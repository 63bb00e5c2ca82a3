/**
 * The exports of YOLOv5 and YOLOv8, and of those that follow them: centre and sides in pixels of the input, decoded
 * already, RGB from 0 to 1, scaled into the middle on grey.
 *
 * `yolov8` (YOLOv8, v9, 11, 12; MegaDetector 6's YOLOv9): one column a place, `[1, 4 + classes, places]`. `yolov5`
 * (YOLOv5; MegaDetector 5): one row a place with objectness, `[1, places, 5 + classes]`.
 */
import type { Size } from '../image.ts'
import type { Candidate } from '../non-maximum-suppression.ts'
import { boxOfCentre, greatestOf, UNIT, type Layout } from './layout.ts'
import { LayoutError, lengthsOf } from './tensor.ts'

const common = { fit: 'centre', channels: 'rgb', normalise: UNIT, repeats: true } as const

export const yolov8: Layout = {
  ...common,
  outputs: ['output0'],
  classes: ([output]) => atLeastOne(lengthsOf('output0', output, [1, undefined, undefined])[1]! - 4),
  decode([output], size, leastScore) {
    const [, rows, places] = lengthsOf('output0', output, [1, undefined, undefined])
    const classes = atLeastOne(rows! - 4)
    const { data } = output!
    const candidates: Candidate[] = []
    for (let place = 0; place < places!; place++) {
      const { index, value } = greatestOf(data, 4 * places! + place, classes, places!)
      if (value >= leastScore) addCandidate(candidates, data, place, places!, size, index, value)
    }
    return candidates
  },
}

export const yolov5: Layout = {
  ...common,
  outputs: ['output'],
  classes: ([output]) => atLeastOne(lengthsOf('output', output, [1, undefined, undefined])[2]! - 5),
  decode([output], size, leastScore) {
    const [, places, length] = lengthsOf('output', output, [1, undefined, undefined])
    const classes = atLeastOne(length! - 5)
    const { data } = output!
    const candidates: Candidate[] = []
    for (let row = 0; row < places! * length!; row += length!) {
      const { index, value } = greatestOf(data, row + 5, classes, 1)
      const score = value * data[row + 4]!
      if (score >= leastScore) addCandidate(candidates, data, row, 1, size, index, score)
    }
    return candidates
  },
}

function atLeastOne(classes: number): number {
  if (classes < 1) throw new LayoutError('the model has no classes')
  return classes
}

/** Four numbers of a box in pixels, `step` apart. */
function addCandidate(
  candidates: Candidate[],
  data: Float32Array,
  from: number,
  step: number,
  { width, height }: Size,
  classIndex: number,
  score: number,
): void {
  const box = boxOfCentre(
    data[from]! / width,
    data[from + step]! / height,
    data[from + 2 * step]! / width,
    data[from + 3 * step]! / height,
  )
  if (box) candidates.push({ box, classIndex, score })
}
