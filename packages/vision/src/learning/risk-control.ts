/**
 * The threshold below which detections are held back, so that at most a share of those that people call right is
 * missed: conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2022, theorem 1), with the loss 1 for a
 * right detection that is held back.
 */

export type Threshold = {
  /** Detections whose logit is below it are held back. */
  readonly logit: number
  /** At most this share of right detections is missed, in expectation over the reviews. */
  readonly bound: number
  /** How many right reviews are needed for the requested bound. */
  readonly needed: number
}

/**
 * The highest threshold with `(losses + 1) / (n + 1) <= share`. Fewer than `1 / share - 1` reviews cannot show so small
 * a share: then none of them may be missed, the bound is `1 / (n + 1)`, and the threshold is also no higher than a
 * lower prediction bound of a normal distribution with their mean and deviation (Hahn and Meeker 1991, section 4.8).
 * Throws RangeError for fewer than two logits.
 *
 * @param logits those of right reviews, of classifiers that were not trained on them
 */
export function controlRisk(logits: readonly number[], share: number): Threshold {
  const count = logits.length
  if (count < 2) throw new RangeError('a threshold takes two right reviews')
  const sorted = logits.toSorted((a, b) => a - b)
  const allowed = Math.floor(share * (count + 1) + 1e-9) - 1
  const needed = Math.ceil(1 / share - 1e-9) - 1
  if (allowed >= 0) return { logit: sorted[allowed]!, bound: (allowed + 1) / (count + 1), needed }
  return { logit: Math.min(sorted[0]!, lowerPrediction(sorted, share)), bound: 1 / (count + 1), needed }
}

/** The bound that the next value is below with probability `share`, if values are normally distributed. */
function lowerPrediction(values: readonly number[], share: number): number {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1)
  return mean - studentQuantile(1 - share, count - 1) * Math.sqrt(variance * (1 + 1 / count))
}

/** Student's t by the expansion of Cornish and Fisher (Abramowitz and Stegun 1964, 26.7.5). */
function studentQuantile(probability: number, freedom: number): number {
  const z = normalQuantile(probability)
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3)
  )
}

/** Abramowitz and Stegun 1964, 26.2.23, for probabilities from 0.5: the error is below 4.5e-4. */
function normalQuantile(probability: number): number {
  const t = Math.sqrt(-2 * Math.log(1 - probability))
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3)
}
