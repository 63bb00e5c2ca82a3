import { expect, test } from 'vitest'
import { foundInWords, wouldBeFound, type Candidate } from './candidates.ts'

const deer: Candidate = { label: 'deer', score: 0.7, seconds: 4 }
const settings = { framesPerSecond: 5, minimumScore: 0.6 }

test('an object with enough score, in view long enough to be seen three times, would have been found', () => {
  expect(wouldBeFound(deer, settings)).toBe(true)
  expect(wouldBeFound(deer, { ...settings, minimumScore: 0.71 })).toBe(false)
  const passing = { ...deer, seconds: 0.2 }
  expect(wouldBeFound(passing, settings)).toBe(false)
  expect(wouldBeFound(passing, { ...settings, framesPerSecond: 10 })).toBe(true)
})

test('the number is shown with its labels, the most frequent first', () => {
  const boar = { label: 'boar', score: 0.3, seconds: 3 }
  expect(foundInWords([boar, deer, deer], { ...settings, minimumScore: 0.3 })).toBe('3: 2 deer, 1 boar')
  expect(foundInWords([boar], settings)).toBe('none')
})
