import { expect, test } from 'vitest'
import { createPersonsSeen } from './persons-seen.ts'

const at = (seconds: number) => ({ wall: 1_700_000_000_000 + seconds * 1_000, mono: seconds * 1_000 })

test('a person counts for a minute, or for as long as the source says, and the longer hold is the one', () => {
  const persons = createPersonsSeen(undefined, 'boot', at(0))
  const isAt = (seconds: number) => persons.until((camera) => camera === 'orchard', at(seconds)) !== undefined
  persons.note('orchard', at(0))
  expect([isAt(59), isAt(60)]).toEqual([true, false])
  persons.note('orchard', at(100), 75_000)
  expect([isAt(160), isAt(174), isAt(175)]).toEqual([true, true, false])
  persons.note('orchard', at(200), 75_000)
  // Another source that sees the same person does not shorten it.
  persons.note('orchard', at(201))
  expect([isAt(274), isAt(275)]).toEqual([true, false])
})
