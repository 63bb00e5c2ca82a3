/** Features of an object: the mean of a detector's last map over its box. */
import type { Box } from '../box.ts'
import { lengthsOf, type Tensor } from '../layouts/tensor.ts'

/** The output of a model that is its last map, `[1, rows, columns, features]` over its whole input. */
export const FEATURES = 'features'
const FEATURES_MAX = 4_096

/**
 * The square roots of the means, of length 1: roots weaken the few loud features. `box` is in shares of the model's
 * input. Throws LayoutError when the map has another shape.
 */
export function pooled(map: Tensor, { x, y, width, height }: Box): Float32Array {
  const [, rows, columns, features] = lengthsOf(FEATURES, map, [1, undefined, undefined, undefined]) as [
    number,
    number,
    number,
    number,
  ]
  const sums = new Float32Array(Math.min(features, FEATURES_MAX))
  for (let row = 0; row < rows; row++) {
    const down = covered(row / rows, 1 / rows, y, height)
    if (down === 0) continue
    for (let column = 0; column < columns; column++) {
      const share = down * covered(column / columns, 1 / columns, x, width)
      if (share === 0) continue
      const from = (row * columns + column) * features
      for (let i = 0; i < sums.length; i++) sums[i]! += share * map.data[from + i]!
    }
  }
  let length = 0
  for (let i = 0; i < sums.length; i++) {
    // NaN too.
    const value = sums[i]! > 0 ? Math.sqrt(sums[i]!) : 0
    sums[i] = value
    length += value * value
  }
  const scale = length > 0 ? 1 / Math.sqrt(length) : 0
  for (let i = 0; i < sums.length; i++) sums[i]! *= scale
  return sums
}

/** How much of a cell the box covers. */
function covered(cell: number, size: number, from: number, length: number): number {
  return Math.max(0, Math.min(cell + size, from + length) - Math.max(cell, from))
}
