import { expect, test } from 'vitest'
import { ofLabel } from './of-label.ts'

test('what is set for a label counts for it before what is set for animal', () => {
  const scores = { animal: 0.4, Bird: 0.8 }
  expect(['bird', 'deer', 'person'].map((label) => ofLabel(scores, label))).toEqual([0.8, 0.4, undefined])
})
