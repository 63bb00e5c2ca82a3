/**
 * The input and the outputs of a family of models. Facts are from the models' own export code, as named in each file.
 */
import type { Size } from '../image.ts'
import type { Fit } from '../letterbox.ts'
import type { Candidate } from '../non-maximum-suppression.ts'
import type { Tensor } from './tensor.ts'

export type Layout = {
  readonly fit: Fit
  /** Order of the three planes of the input. */
  readonly channels: 'rgb' | 'bgr'
  /** The input is (byte / 255 - mean) / deviation, channel by channel; undefined for bytes as they are, 0 to 255. */
  readonly normalise: { readonly mean: Triple; readonly deviation: Triple } | undefined
  /**
   * Names of the outputs that `decode` takes, in its order; for a model with other names, the first outputs in its own
   * order.
   */
  readonly outputs: readonly string[]
  /** Whether several boxes for one object must be thinned out (`suppressNonMaxima`). */
  readonly repeats: boolean
  /** The number of classes of a model with these outputs. Throws LayoutError when they have another shape. */
  classes(outputs: readonly Tensor[]): number
  /**
   * Candidates with at least `leastScore`, boxes in shares of the input of `size`. NaN is skipped. Throws LayoutError
   * when the outputs have another shape.
   */
  decode(outputs: readonly Tensor[], size: Size, leastScore: number): Candidate[]
}

export type Triple = readonly [number, number, number]

/** Red, green and blue from 0 to 1. */
export const UNIT = { mean: [0, 0, 0], deviation: [1, 1, 1] } as const
/** Mean and standard deviation of ImageNet's pictures: red, green, blue. */
export const IMAGENET = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] } as const

/** The greatest of `count` numbers that begin at `from` and lie `step` apart. NaN never wins. */
export function greatestOf(
  data: Float32Array,
  from: number,
  count: number,
  step: number,
): { index: number; value: number } {
  let index = 0
  let value = -Infinity
  for (let i = 0; i < count; i++) {
    const at = data[from + i * step]!
    if (at > value) {
      value = at
      index = i
    }
  }
  return { index, value }
}

/** A box of its centre and sides; undefined when it has no area or a number is NaN. */
export function boxOfCentre(x: number, y: number, width: number, height: number) {
  const isBox = Number.isFinite(x) && Number.isFinite(y) && width > 0 && height > 0 && width < 1e6 && height < 1e6
  return isBox ? { x: x - width / 2, y: y - height / 2, width, height } : undefined
}
