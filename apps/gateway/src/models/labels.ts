/** The class names of models, and our labels for them. */

/** COCO's names of living things and vehicles, by category number; the other classes are of no use outdoors. */
const COCO: Readonly<Record<number, string>> = {
  1: 'person',
  2: 'bicycle',
  3: 'car',
  4: 'motorcycle',
  6: 'bus',
  7: 'train',
  8: 'truck',
  9: 'boat',
  16: 'bird',
  17: 'cat',
  18: 'dog',
  19: 'horse',
  20: 'sheep',
  21: 'cow',
  22: 'elephant',
  23: 'bear',
  24: 'zebra',
  25: 'giraffe',
}
const COCO_CATEGORIES = 91
/** Category numbers that COCO left out of its 80 classes. */
const COCO_UNUSED = [0, 12, 26, 29, 30, 45, 66, 68, 69, 71, 83]

const coco91 = Array.from({ length: COCO_CATEGORIES }, (_, category) => COCO[category] ?? null)

/** Label sets that a manifest may name instead of a list. Classes without a label are not reported. */
export const LABEL_SETS = {
  /** The 80 classes in COCO's order, as YOLOX, D-FINE and RT-DETR have them. */
  coco80: coco91.filter((_, category) => !COCO_UNUSED.includes(category)),
  /** COCO's category numbers, 0 unused, as RF-DETR has them. */
  coco91,
} as const satisfies Record<string, readonly (string | null)[]>
export type LabelSet = keyof typeof LABEL_SETS

/** Other names for labels of our rules, deterrents and reports. */
const OURS: ReadonlyMap<string, string> = new Map([
  ['human', 'person'],
  ['people', 'person'],
  ['pedestrian', 'person'],
  ['wild boar', 'boar'],
  ['roe deer', 'deer'],
  ['red deer', 'deer'],
  ['red fox', 'fox'],
  ['automobile', 'car'],
  ['motorbike', 'motorcycle'],
])

/** One label for each class of a model, in its order; null for a class that is not reported. */
export function labelsOf(labels: LabelSet | readonly (string | null)[]): readonly (string | null)[] {
  const names = typeof labels === 'string' ? LABEL_SETS[labels] : labels
  return names.map((name) => name && (OURS.get(name.toLowerCase()) ?? name.toLowerCase()))
}
