import { MINIMUM_SCORE_LEAST } from '../../cameras/schema.ts'

/**
 * Chosen for a few pictures a second, where an animal moves by its own length between two pictures. What is sure enough
 * for a detection is decided by the track's median score, so that one lucky look decides nothing.
 */
export const TRACKING = {
  confirmAfter: 2,
  buffer: 0.3,
  keepLostMs: 1_500,
  newScore: 2 * MINIMUM_SCORE_LEAST,
  highScore: 2 * MINIMUM_SCORE_LEAST,
  lowScore: MINIMUM_SCORE_LEAST,
}
/** A detection was seen so many times. */
export const LEAST_LOOKS = 3
