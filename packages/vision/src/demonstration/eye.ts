/**
 * The demonstration eye: names moving objects by their outline only, with HOG and a linear classifier trained on the
 * silhouettes of the rendered scenes. It shows the whole pipeline from a camera to a detection without a model file. It
 * is no substitute for a model, and does not recognize real animals.
 */
import type { Box } from '../box.ts'
import { HOG_FEATURES, HOG_PIXELS, hogOf } from '../hog.ts'
import type { Plane } from '../image.ts'
import { classify, type LinearClassifier } from '../linear-classifier.ts'
import { resamplePlane } from '../resample.ts'
import { WEIGHTS } from './weights.ts'

/** The first one means none of the others. */
export const DEMONSTRATION_CLASSES = ['nothing', 'boar', 'cat', 'deer', 'fox', 'person'] as const
export type DemonstrationClass = (typeof DEMONSTRATION_CLASSES)[number]

export type Look = {
  readonly label: DemonstrationClass
  /** Probability of the label, 0 to 1. */
  readonly score: number
}

/** Room around the box, in shares of its longer side, so that the outline has both of its sides. */
const MARGIN = 0.08

/** Classifies the content of a box of a picture. */
export function lookAt(plane: Plane, box: Box, classifier = demonstrationClassifier()): Look {
  const probabilities = classify(classifier, hogOf(cropFor(plane, box)))
  let best = 0
  for (const [k, probability] of probabilities.entries()) if (probability > probabilities[best]!) best = k
  return { label: DEMONSTRATION_CLASSES[best]!, score: probabilities[best]! }
}

/** The square around a box, as 64 x 64 pixels: shapes keep their proportions. */
export function cropFor(plane: Plane, box: Box): Plane {
  const width = box.width * plane.width
  const height = box.height * plane.height
  const side = Math.max(width, height) * (1 + 2 * MARGIN)
  const x = (box.x + box.width / 2) * plane.width - side / 2
  const y = (box.y + box.height / 2) * plane.height - side / 2
  return resamplePlane(plane, { x, y, width: side, height: side }, HOG_PIXELS, HOG_PIXELS)
}

let unpacked: LinearClassifier | undefined

function demonstrationClassifier(): LinearClassifier {
  return (unpacked ??= unpack(WEIGHTS))
}

/**
 * Weights as text: for each class a scale and a bias as 32-bit floats, little-endian, then one signed byte a feature,
 * all in base64.
 */
export function pack({ classes, features, weights, biases }: LinearClassifier): string {
  const bytes = new Uint8Array(classes * (8 + features))
  const view = new DataView(bytes.buffer)
  for (let k = 0, at = 0; k < classes; k++) {
    const own = weights.subarray(k * features, (k + 1) * features)
    const scale = Math.fround(own.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-9) / 127)
    view.setFloat32(at, scale, true)
    view.setFloat32(at + 4, biases[k]!, true)
    at += 8
    for (const weight of own) view.setInt8(at++, Math.round(weight / scale))
  }
  return bytes.toBase64()
}

export function unpack(text: string): LinearClassifier {
  const bytes = Uint8Array.fromBase64(text)
  const view = new DataView(bytes.buffer)
  const classes = DEMONSTRATION_CLASSES.length
  const features = HOG_FEATURES
  const weights = new Float32Array(classes * features)
  const biases = new Float32Array(classes)
  for (let k = 0, at = 0; k < classes; k++) {
    const scale = view.getFloat32(at, true)
    biases[k] = view.getFloat32(at + 4, true)
    at += 8
    for (let i = 0; i < features; i++) weights[k * features + i] = scale * view.getInt8(at++)
  }
  return { classes, features, weights, biases }
}
