import { overlapOf, type Box } from './box.ts'

/** One detection of a model: the box in shares of its input, the number of its class, and its score, 0 to 1. */
export type Candidate = { readonly box: Box; readonly classIndex: number; readonly score: number }

/**
 * Greedy non-maximum suppression (Neubeck and Van Gool 2006), each class by itself: of boxes that overlap by more than
 * `maximumOverlap` (intersection over union) the surest stays. The surest come first.
 */
export function suppressNonMaxima<C extends Candidate>(candidates: readonly C[], maximumOverlap = 0.5): C[] {
  const chosen: C[] = []
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    const isRepeated = chosen.some(
      (other) => other.classIndex === candidate.classIndex && overlapOf(other.box, candidate.box) > maximumOverlap,
    )
    if (!isRepeated) chosen.push(candidate)
  }
  return chosen
}
