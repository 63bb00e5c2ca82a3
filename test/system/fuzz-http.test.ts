import { afterEach, expect, test } from 'vitest'
import { runRounds } from '../fuzz/http/rounds.ts'
import { TARGETS, type Target } from '../fuzz/http/targets.ts'

/** The first rounds of `npm run fuzz http`, which can run for minutes. */
const ROUNDS = 6

let target: Target | undefined
afterEach(() => target?.stop())

test.each(Object.keys(TARGETS))('mutated HTTP only ends connections: %s', async (name) => {
  target = await TARGETS[name]!()
  expect(await runRounds(target, { seed: 1, more: (rounds) => rounds < ROUNDS })).toBeGreaterThan(100)
})
