/**
 * The Kalman filter that ByteTrack inherits from SORT (Bewley et al. 2016): a constant velocity for the box's centre
 * and sides. Its matrices couple each coordinate with its own velocity only, so four filters of two states each give
 * the same numbers as one of eight. Noise is a share of the box's side on that axis, as in BoT-SORT (Aharon et al.
 * 2022), so boxes in shares of a picture of any shape are fine.
 */
import { boxAround, centreOf, type Box } from './box.ts'

/** The papers' noise is that of one frame at 30 frames a second; time is counted in such frames here. */
const FRAME_MS = 1_000 / 30
const POSITION_NOISE = 1 / 20
const VELOCITY_NOISE = 1 / 160

/** A position with its velocity in frames of 1/30 s, and their covariance. */
type Axis = { position: number; velocity: number; p00: number; p01: number; p11: number }

function createAxis(position: number, side: number): Axis {
  return {
    position,
    velocity: 0,
    p00: (2 * POSITION_NOISE * side) ** 2,
    p01: 0,
    p11: (10 * VELOCITY_NOISE * side) ** 2,
  }
}

function predictAxis(axis: Axis, frames: number, side: number): void {
  axis.position += frames * axis.velocity
  axis.p00 += frames * (2 * axis.p01 + frames * axis.p11) + frames * (POSITION_NOISE * side) ** 2
  axis.p01 += frames * axis.p11
  axis.p11 += frames * (VELOCITY_NOISE * side) ** 2
}

function correctAxis(axis: Axis, measured: number, side: number): void {
  const innovation = measured - axis.position
  const total = axis.p00 + (POSITION_NOISE * side) ** 2
  const positionGain = axis.p00 / total
  const velocityGain = axis.p01 / total
  axis.position += positionGain * innovation
  axis.velocity += velocityGain * innovation
  axis.p11 -= velocityGain * axis.p01
  axis.p01 *= 1 - positionGain
  axis.p00 *= 1 - positionGain
}

/** Sides may shrink to this while nothing is measured, in shares of the picture. */
const LEAST_SIDE = 1e-4

export class BoxFilter {
  readonly #x: Axis
  readonly #y: Axis
  readonly #width: Axis
  readonly #height: Axis
  #at: number

  /** `now` is in milliseconds of a clock that never goes back. */
  constructor(box: Box, now: number) {
    const centre = centreOf(box)
    const width = Math.max(LEAST_SIDE, box.width)
    const height = Math.max(LEAST_SIDE, box.height)
    this.#x = createAxis(centre.x, width)
    this.#y = createAxis(centre.y, height)
    this.#width = createAxis(width, width)
    this.#height = createAxis(height, height)
    this.#at = now
  }

  /** The predicted box at `now`. */
  predict(now: number): Box {
    const frames = Math.max(0, now - this.#at) / FRAME_MS
    this.#at = Math.max(now, this.#at)
    const { width, height } = this.box
    predictAxis(this.#x, frames, width)
    predictAxis(this.#y, frames, height)
    predictAxis(this.#width, frames, width)
    predictAxis(this.#height, frames, height)
    return this.box
  }

  /** Updates with a sighting at the time of the last `predict`. */
  correct(measured: Box): void {
    const { width, height } = this.box
    const centre = centreOf(measured)
    correctAxis(this.#x, centre.x, width)
    correctAxis(this.#y, centre.y, height)
    correctAxis(this.#width, measured.width, width)
    correctAxis(this.#height, measured.height, height)
  }

  /** A lost object keeps its last size. */
  holdSize(): void {
    this.#width.velocity = 0
    this.#height.velocity = 0
  }

  get box(): Box {
    const width = Math.max(LEAST_SIDE, this.#width.position)
    const height = Math.max(LEAST_SIDE, this.#height.position)
    return boxAround({ x: this.#x.position, y: this.#y.position }, width, height)
  }
}
