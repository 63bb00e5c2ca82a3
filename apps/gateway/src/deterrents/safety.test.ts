/**
 * The safety of deterrents as properties: the interlock, the switches of a supervisor and those of the agent run
 * against simulated devices, on a clock of the simulation, through any sequence of requests, people, crashes, clock
 * jumps and failures.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simulation, UNREACHABLE_MS, type Step } from '../../testing/deterrent-simulation.ts'

/** The same runs each time; more or others with SAFETY_RUNS and SAFETY_SEED. */
const numRuns = Number(process.env['SAFETY_RUNS'] ?? 150)
const seed = Number(process.env['SAFETY_SEED'] ?? 14)

type Weighted = { weight: number; arbitrary: fc.Arbitrary<Step> }
const often = (weight: number, arbitrary: fc.Arbitrary<Step>): Weighted => ({ weight, arbitrary })

const name = fc.constantFrom('valve', 'siren', 'timed')
const camera = fc.constantFrom('orchard', 'gate')
const variant = fc.integer({ min: 0, max: 1 })
const seconds = fc.constantFrom(undefined, undefined, undefined, 1, 2, 5, 10, 20, 30, 31, 0, -1, 1.5)
const ms = (max: number) => fc.integer({ min: 0, max })

/** Mostly firings and pauses, so that the other events happen during firings. */
const harmless: Weighted[] = [
  often(8, fc.record({ is: fc.constant('program-fires'), name, seconds })),
  often(8, fc.record({ is: fc.constant('person-fires'), name, seconds, via: fc.constantFrom('hub', 'device') })),
  often(
    8,
    fc.record({
      is: fc.constant('rule'),
      name,
      seconds,
      cameras: fc.uniqueArray(camera),
      aboutPersons: fc.boolean(),
    }),
  ),
  often(15, fc.record({ is: fc.constant('wait'), ms: ms(20_000) })),
  often(5, fc.record({ is: fc.constant('wait'), ms: ms(1_500_000) })),
  often(2, fc.record({ is: fc.constant('person-seen'), camera })),
  often(2, fc.record({ is: fc.constant('stop'), name: fc.option(name, { nil: undefined }) })),
  often(3, fc.record({ is: fc.constant('arm') })),
  often(1, fc.record({ is: fc.constant('disarm') })),
  often(2, fc.record({ is: fc.constant('clock-jumps'), ms: fc.integer({ min: -100_000_000, max: 100_000_000 }) })),
  often(
    1,
    fc.record({ is: fc.constant('new-settings'), without: fc.constantFrom(undefined, undefined, 'valve'), variant }),
  ),
]
/** The agent ends while the supervisor lives. */
const agentEnds: Weighted[] = [
  often(2, fc.record({ is: fc.constant('agent-dies') })),
  often(2, fc.record({ is: fc.constant('agent-hangs'), ms: ms(60_000) })),
]
const allElse: Weighted[] = [
  often(2, fc.record({ is: fc.constant('supervisor-dies') })),
  often(2, fc.record({ is: fc.constant('no-supervisor'), ms: ms(200_000) })),
  often(2, fc.record({ is: fc.constant('both-die'), ms: ms(60_000), variant })),
  often(1, fc.record({ is: fc.constant('reboot'), ms: ms(4_000_000), variant })),
  often(1, fc.record({ is: fc.constant('disk'), works: fc.boolean() })),
  often(
    4,
    fc.record({
      is: fc.constant('device'),
      name,
      manner: fc.constantFrom(
        'well',
        'well',
        'slow',
        'acts-without-answer',
        'lost',
        'acts-with-error',
        'refuses',
        'late',
      ),
    }),
  ),
]

const sequence = (steps: Weighted[]) => fc.array(fc.oneof(...steps), { minLength: 5, maxLength: 80, size: 'max' })
const check = (steps: Weighted[], property: (taken: readonly Step[]) => void) =>
  fc.assert(fc.property(sequence(steps), property), { numRuns, seed })

function run(taken: readonly Step[]) {
  const world = simulation()
  for (const step of taken) world.take(step)
  world.take({ is: 'wait', ms: 120_000 })
  return world
}

function runToTheEnd(taken: readonly Step[]) {
  const world = run(taken)
  const overtimeMs = world.worstOvertimeMs()
  const timedOvertimeMs = world.worstOvertimeMs('timed')
  const budgetBreaches = [...world.budgetBreaches()]
  const forbidden = [...world.forbidden()]
  for (const device of ['valve', 'siren', 'timed'] as const) world.take({ is: 'device', name: device, manner: 'well' })
  world.take({ is: 'wait', ms: UNREACHABLE_MS + 60_000 })
  return { stepMs: world.stepMs, overtimeMs, timedOvertimeMs, budgetBreaches, forbidden, onAtTheEnd: world.on() }
}

/** Each sequence with any failure runs once; properties look at its parts. */
const ended = new Map<string, ReturnType<typeof runToTheEnd>>()
const withAnyFailure = (property: (end: ReturnType<typeof runToTheEnd>) => void) =>
  check([...harmless, ...agentEnds, ...allElse], (taken) => {
    property(ended.getOrInsertComputed(JSON.stringify(taken), () => runToTheEnd(taken)))
  })

test('with devices that answer, nothing is on beyond its time, whatever is asked and whenever the agent ends', () => {
  let firings = 0
  check([...harmless, ...agentEnds], (taken) => {
    const world = run(taken)
    expect(world.worstOvertimeMs()).toBeLessThanOrEqual(world.stepMs)
    expect(world.on()).toEqual([])
    firings += world.firings()
  })
  // The sequences do fire.
  expect(firings).toBeGreaterThan(3 * numRuns)
})

test('with any failure, nothing is on beyond its time for longer than its device cannot be reached', () => {
  withAnyFailure(({ overtimeMs, timedOvertimeMs, stepMs }) => {
    expect(overtimeMs).toBeLessThanOrEqual(UNREACHABLE_MS)
    // A device that ends firings itself needs nobody.
    expect(timedOvertimeMs).toBeLessThanOrEqual(stepMs)
  })
})

test('at the end of any failure everything is off', () => {
  withAnyFailure(({ onAtTheEnd }) => expect(onAtTheEnd).toEqual([]))
})

test('no firing begins over the budget, or within the pause after another', () => {
  withAnyFailure(({ budgetBreaches }) => expect(budgetBreaches).toEqual([]))
})

test('nothing that was refused is switched on, or while disarmed, or beside a person', () => {
  withAnyFailure(({ forbidden }) => expect(forbidden).toEqual([]))
})
