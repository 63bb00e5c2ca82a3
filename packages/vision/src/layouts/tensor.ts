/** An output of a model: numbers in the order of `shape`, the last axis running fastest. */
export type Tensor = { readonly data: Float32Array; readonly shape: readonly number[] }

/** A model's output does not fit its layout. `message` is for people. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError'
}

/**
 * Checks a tensor against a shape in which undefined stands for any length, and returns its lengths. Throws LayoutError
 * when they do not fit, or the data is not that long.
 */
export function lengthsOf(name: string, tensor: Tensor | undefined, wanted: readonly (number | undefined)[]): number[] {
  const shape = tensor?.shape ?? []
  const isRight =
    shape.length === wanted.length && wanted.every((length, i) => length === undefined || length === shape[i])
  const expected = `[${wanted.map((length) => length ?? 'n').join(', ')}]`
  if (!tensor || !isRight) throw new LayoutError(`the model's output ${name} is [${shape.join(', ')}], not ${expected}`)
  if (tensor.data.length !== shape.reduce((a, b) => a * b, 1))
    throw new LayoutError(
      `the model's output ${name} has ${tensor.data.length} numbers, not those of [${shape.join(', ')}]`,
    )
  return [...shape]
}
