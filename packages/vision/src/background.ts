/**
 * The background, without moving objects: for each block of 8 x 8 pixels the mean of its brightness over time and its
 * usual deviation. Both adapt slowly, so that a swaying branch or rain widens the usual range of its blocks (a running
 * Gaussian average, Wren et al. 1997, "Pfinder", on blocks instead of pixels).
 *
 * Brightness is the logarithm of luma. When the light changes by some factor, every block moves by the same amount,
 * which is the median of all departures; it is subtracted before a block counts as changed.
 */
import type { Plane, Size } from './image.ts'

export const BLOCK_PIXELS = 8

/** Added before the logarithm, so that the noise of dark pixels is not blown up. In grey levels. */
const DARK_LEVEL = 10
/** Steps of the logarithm's table for each grey level. */
const LEVEL_STEPS = 16
const LOGARITHM = Float32Array.from({ length: 255 * LEVEL_STEPS + 1 }, (_, i) => Math.log(i / LEVEL_STEPS + DARK_LEVEL))

/** Time constants of the adaptation. Behind an object the background is not visible, and adapts slowly. */
const BACKGROUND_MS = 10_000
const FOREGROUND_MS = 60_000
const DEVIATION_MS = 15_000
/** During this time the background is a plain average, and nothing is reported. */
const LEARNING_MS = 2_000
const LEARNING_FRAMES = 5
const FIRST_VARIANCE = 0.02 ** 2
/** Departures below this never count: 3.5 % more or less light than usual. */
const LEAST_DEPARTURE = 0.035
/** The usual range, in standard deviations. */
const USUAL_DEVIATIONS = 3
/**
 * The most that one picture changes a block, in deviations, so that a passing animal does not make a block insensitive.
 */
const LESSON_LIMIT = 4
/** More blocks than this changed at once: another view, or another light that no factor explains. */
const NEW_SCENE_SHARE = 0.5
/** A scene that comes back within this time is known, when so few blocks differ from it. */
const REMEMBERED_MS = 120_000
const BACK_SHARE = 0.1
/** The median of departures is found in a histogram of these bins. */
const LIGHT_BINS = 1_024
const LIGHT_RANGE = 2

export type BackgroundState =
  /** Still learning; reports nothing yet. */
  | 'learning'
  /** Most of the picture changed at once, and learning started again. */
  | 'new-scene'
  | 'steady'

export class Background {
  readonly columns: number
  readonly rows: number
  /**
   * For each block its departure from the usual, row by row: 1 is the border of the usual range, 0 none.
   * Valid until the next `update`.
   */
  readonly departures: Float32Array
  /** For each block a 1 when it differs from the picture before, apart from the light. */
  readonly stirred: Uint8Array
  /** Logarithm of the factor by which the light differs from the background's, in the last picture. */
  lighting = 0
  readonly #size: Size
  readonly #ignored: Uint8Array | undefined
  readonly #sums: Uint32Array
  readonly #brightness: Float32Array
  #means: Float32Array
  #variances: Float32Array
  /** The scene before this one, such as that which an animal before the lens hides. */
  #left: { means: Float32Array; variances: Float32Array; at: number } | undefined
  readonly #before: Float32Array
  readonly #histogram = new Int32Array(LIGHT_BINS)
  #meanDeviation = 0
  #frames = 0
  #learningSince = 0
  #lastAt = 0

  /** `ignored` has a 1 for each ignored block, row by row: see `maskedCells`. */
  constructor(size: Size, ignored?: Uint8Array) {
    this.#size = size
    this.columns = Math.ceil(size.width / BLOCK_PIXELS)
    this.rows = Math.ceil(size.height / BLOCK_PIXELS)
    const blocks = this.columns * this.rows
    if (ignored && ignored.length !== blocks) throw new RangeError(`a mask of ${blocks} blocks, not ${ignored.length}`)
    this.#ignored = ignored
    this.departures = new Float32Array(blocks)
    this.stirred = new Uint8Array(blocks)
    this.#before = new Float32Array(blocks)
    this.#sums = new Uint32Array(blocks)
    this.#brightness = new Float32Array(blocks)
    this.#means = new Float32Array(blocks)
    this.#variances = new Float32Array(blocks).fill(FIRST_VARIANCE)
  }

  /**
   * Compares a picture with the background, fills `departures`, and learns from it. `now` is in milliseconds of a clock
   * that never goes back. Throws RangeError for a picture of another size.
   */
  update(plane: Plane, now: number): BackgroundState {
    if (plane.width !== this.#size.width || plane.height !== this.#size.height)
      throw new RangeError(`a picture of ${this.#size.width} x ${this.#size.height} was expected`)
    this.#measure(plane)
    if (this.#frames === 0) this.#begin(now)
    const elapsedMs = Math.max(0, now - this.#lastAt)
    this.#lastAt = now
    this.#comeBack(now)
    this.lighting = this.#medianDeparture()
    this.#stir()
    const isLearning = this.#frames < LEARNING_FRAMES || now - this.#learningSince < LEARNING_MS
    const changed = this.#compare()
    if (!isLearning && changed > NEW_SCENE_SHARE * this.columns * this.rows) {
      this.#left = { means: this.#means.slice(), variances: this.#variances.slice(), at: now }
      this.#begin(now)
      this.#frames = 1
      this.departures.fill(0)
      return 'new-scene'
    }
    this.#learn(elapsedMs, isLearning)
    this.#frames++
    if (isLearning) this.departures.fill(0)
    return isLearning ? 'learning' : 'steady'
  }

  #begin(now: number): void {
    this.#learningSince = now
    this.#lastAt = now
    this.#means.set(this.#brightness)
    this.#variances.fill(FIRST_VARIANCE)
  }

  /** Goes on with the scene before, when it is seen again. */
  #comeBack(now: number): void {
    const left = this.#left
    if (!left) return
    if (now - left.at > REMEMBERED_MS) return void (this.#left = undefined)
    const present = { means: this.#means, variances: this.#variances }
    this.#means = left.means
    this.#variances = left.variances
    this.lighting = this.#medianDeparture()
    if (this.#compare() < BACK_SHARE * this.columns * this.rows) {
      this.#left = undefined
      this.#learningSince = -Infinity
      this.#frames = LEARNING_FRAMES
    } else {
      this.#means = present.means
      this.#variances = present.variances
    }
  }

  #stir(): void {
    for (let block = 0; block < this.stirred.length; block++) {
      const now = this.#brightness[block]! - this.lighting
      this.stirred[block] = Math.abs(now - this.#before[block]!) > LEAST_DEPARTURE ? 1 : 0
      this.#before[block] = now
    }
  }

  #measure({ width, height, stride, data }: Plane): void {
    const { columns } = this
    const sums = this.#sums.fill(0)
    const wholeColumns = Math.floor(width / BLOCK_PIXELS)
    for (let y = 0; y < height; y++) {
      const first = (y >> 3) * columns
      let at = y * stride
      for (let block = first; block < first + wholeColumns; block++, at += 8)
        sums[block]! +=
          data[at]! +
          data[at + 1]! +
          data[at + 2]! +
          data[at + 3]! +
          data[at + 4]! +
          data[at + 5]! +
          data[at + 6]! +
          data[at + 7]!
      for (const end = y * stride + width; at < end; at++) sums[first + wholeColumns]! += data[at]!
    }
    for (let row = 0, block = 0; row < this.rows; row++) {
      const lines = Math.min(BLOCK_PIXELS, height - row * BLOCK_PIXELS)
      for (let column = 0; column < columns; column++, block++) {
        const pixels = lines * Math.min(BLOCK_PIXELS, width - column * BLOCK_PIXELS)
        this.#brightness[block] = LOGARITHM[((sums[block]! * LEVEL_STEPS) / pixels) | 0]!
      }
    }
  }

  #medianDeparture(): number {
    const histogram = this.#histogram.fill(0)
    const blocks = this.#brightness.length
    const scale = LIGHT_BINS / (2 * LIGHT_RANGE)
    for (let block = 0; block < blocks; block++) {
      const bin = ((this.#brightness[block]! - this.#means[block]! + LIGHT_RANGE) * scale) | 0
      histogram[Math.min(LIGHT_BINS - 1, Math.max(0, bin))]!++
    }
    let below = 0
    let bin = 0
    while (below + histogram[bin]! <= blocks / 2) below += histogram[bin++]!
    // Within its bin the median lies as far as its rank does.
    const within = (blocks / 2 - below) / histogram[bin]!
    return (bin + within) / scale - LIGHT_RANGE
  }

  /** How many blocks left their usual range. */
  #compare(): number {
    let changed = 0
    let sum = 0
    // Rain may not have reached every block yet, so no block counts as calmer than the average.
    const least = Math.max(LEAST_DEPARTURE, USUAL_DEVIATIONS * this.#meanDeviation)
    for (let block = 0; block < this.departures.length; block++) {
      const deviation = Math.sqrt(this.#variances[block]!)
      sum += deviation
      const usual = Math.max(least, USUAL_DEVIATIONS * deviation)
      const departure = Math.abs(this.#brightness[block]! - this.lighting - this.#means[block]!) / usual
      if (departure > 1) changed++
      this.departures[block] = this.#ignored?.[block] ? 0 : departure
    }
    this.#meanDeviation = sum / this.departures.length
    return changed
  }

  #learn(elapsedMs: number, isLearning: boolean): void {
    const least = isLearning ? 1 / (this.#frames + 1) : 0
    const fast = Math.max(least, elapsedMs / (elapsedMs + BACKGROUND_MS))
    const slow = Math.max(least, elapsedMs / (elapsedMs + FOREGROUND_MS))
    const spread = Math.max(least, elapsedMs / (elapsedMs + DEVIATION_MS))
    for (let block = 0; block < this.departures.length; block++) {
      const departure = this.#brightness[block]! - this.lighting - this.#means[block]!
      const isForeground = this.departures[block]! > 1
      const variance = this.#variances[block]!
      const limit = LESSON_LIMIT ** 2 * Math.max(LEAST_DEPARTURE ** 2, variance)
      this.#variances[block] = variance + spread * (Math.min(limit, departure ** 2) - variance)
      this.#means[block]! += (isForeground ? slow : fast) * departure
    }
    // The mean follows the light slowly; blocks learn it together.
    if (isLearning) return
    const light = fast * this.lighting
    for (let block = 0; block < this.departures.length; block++) this.#means[block]! += light
  }
}
