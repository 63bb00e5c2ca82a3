import { expect, test } from 'vitest'
import { createRandom, mutate } from './mutate.ts'
import { KINDS, createTarget, seeds } from './target.ts'

test('the first inputs are of every kind, and neither they nor three thousand of their mutants do harm', () => {
  const inputs = seeds()
  expect(new Set(inputs.map(({ kind }) => kind))).toEqual(new Set(KINDS))
  const target = createTarget()
  for (const input of inputs) target.run(input)
  const random = createRandom(7)
  for (let i = 0; i < 3000; i++) {
    const [one, other] = [inputs[random(inputs.length)], inputs[random(inputs.length)]]
    if (one === undefined || other === undefined) throw new Error('no inputs')
    target.run({ kind: one.kind, data: mutate(one.data, other.data, random) })
  }
})

test('a run repeats: the same seed makes the same mutants', () => {
  const mutants = (seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: 50 }, () => mutate(new Uint8Array(40), Uint8Array.of(1, 2, 3), random).join())
  }
  expect(mutants(5)).toEqual(mutants(5))
  expect(mutants(5)).not.toEqual(mutants(6))
})
