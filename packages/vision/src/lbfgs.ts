/**
 * Finds the minimum of a smooth function by the limited-memory BFGS method (Liu and Nocedal 1989): gradients of the
 * last steps approximate the curvature. Steps are halved until the value falls enough (Armijo's rule).
 */

/** Value at `point`; writes the gradient there into `gradient`. */
export type Objective = (point: Float64Array, gradient: Float64Array) => number

export type MinimiseOptions = {
  readonly iterations?: number
  /** The search ends when no part of the gradient is larger. */
  readonly tolerance?: number
}

const MEMORY = 8
const SUFFICIENT_DECREASE = 1e-4
const HALVINGS = 30

type Step = { moved: Float64Array; turned: Float64Array; scale: number }

/** The point where the search ended, starting at `start`, which is not changed. */
export function minimise(objective: Objective, start: Float64Array, options: MinimiseOptions = {}): Float64Array {
  const { iterations = 100, tolerance = 1e-5 } = options
  let point = Float64Array.from(start)
  let gradient = new Float64Array(point.length)
  let value = objective(point, gradient)
  const steps: Step[] = []
  for (let iteration = 0; iteration < iterations && largest(gradient) > tolerance; iteration++) {
    const direction = descent(gradient, steps)
    const slope = dot(direction, gradient)
    if (!(slope < 0)) break
    let length = steps.length === 0 ? Math.min(1, 1 / Math.sqrt(dot(gradient, gradient))) : 1
    const nextGradient = new Float64Array(point.length)
    let next = point
    let nextValue = Infinity
    let halvings = 0
    for (; halvings < HALVINGS; halvings++, length /= 2) {
      next = point.map((at, i) => at + length * direction[i]!)
      nextValue = objective(next, nextGradient)
      if (nextValue <= value + SUFFICIENT_DECREASE * length * slope) break
    }
    if (halvings === HALVINGS) break
    remember(steps, point, next, gradient, nextGradient)
    point = next
    gradient = nextGradient
    value = nextValue
  }
  return point
}

/** The two loops of Nocedal 1980: minus the gradient, corrected by the curvature of the last steps. */
function descent(gradient: Float64Array, steps: readonly Step[]): Float64Array {
  const direction = gradient.map((part) => -part)
  const shares: number[] = []
  for (const { moved, turned, scale } of steps.toReversed()) {
    const share = scale * dot(moved, direction)
    shares.push(share)
    add(direction, turned, -share)
  }
  const last = steps.at(-1)
  if (last) {
    const factor = 1 / (last.scale * dot(last.turned, last.turned))
    for (let i = 0; i < direction.length; i++) direction[i]! *= factor
  }
  for (const { moved, turned, scale } of steps) add(direction, moved, shares.pop()! - scale * dot(turned, direction))
  return direction
}

function remember(
  steps: Step[],
  from: Float64Array,
  to: Float64Array,
  before: Float64Array,
  after: Float64Array,
): void {
  const moved = to.map((at, i) => at - from[i]!)
  const turned = after.map((part, i) => part - before[i]!)
  const curvature = dot(moved, turned)
  // A step along which the gradient did not grow has no information about a minimum.
  if (curvature <= 1e-12 * dot(turned, turned)) return
  steps.push({ moved, turned, scale: 1 / curvature })
  if (steps.length > MEMORY) steps.shift()
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

function add(to: Float64Array, what: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i]! += factor * what[i]!
}

function largest(values: Float64Array): number {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
}
