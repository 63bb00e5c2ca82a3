import { expect, test } from 'vitest'
import { labelsOf } from './labels.ts'

test('labels of a manifest become ours, also when a model names its classes like members of objects', () => {
  const names = ['Human', 'Wild boar', 'Badger', 'constructor', '__proto__', null]
  expect(labelsOf(names)).toEqual(['person', 'boar', 'badger', 'constructor', '__proto__', null])
})
