import { expect, test } from 'vitest'
import { isAnimalLabel, meansLabel } from './animals.ts'

test('animal is every kind of animal, and no person or thing', () => {
  for (const label of ['boar', 'Wild Boar', 'red_deer', 'dogs', 'animal', 'opossum', 'cow'])
    expect(isAnimalLabel(label), label).toBe(true)
  for (const label of ['person', 'car', 'motion', 'dog walker', 'smoke', 'bear spray', ''])
    expect(isAnimalLabel(label), label).toBe(false)
})

test('a name means itself in any case; animal means its kinds, and a kind does not mean animal', () => {
  expect(meansLabel('Boar', 'boar')).toBe(true)
  expect(meansLabel('animal', 'boar')).toBe(true)
  expect(meansLabel('boar', 'animal')).toBe(false)
  expect(meansLabel('animal', 'person')).toBe(false)
})
