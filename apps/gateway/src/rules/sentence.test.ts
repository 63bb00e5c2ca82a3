import { expect, test } from 'vitest'
import { rulesSettings } from './schema.ts'
import { ruleSentence } from './sentence.ts'

test.each([
  [{ labels: ['boar'], fire: ['valve'] }, 'Boar on any camera: fires valve.'],
  [
    { labels: ['boar', 'deer', 'fox'], cameras: ['orchard'], zones: ['rows'], minimumScore: 0.7, fire: ['a', 'b'] },
    'Boar, deer or fox on orchard, in rows, with a score of 0.7 or more: fires a and b.',
  ],
  [
    {
      labels: ['boar'],
      fire: ['a', 'b'],
      choose: 'one',
      seconds: [5, 12],
      hours: 'sunset-30m-06:00',
      days: ['monday'],
    },
    'Boar on any camera, from sunset-30m to 06:00, on Monday: fires one of a or b for 5 to 12 s.',
  ],
  [
    { labels: ['person'], fire: ['siren'], aboutPersons: true, enabled: false, verdict: 'confirmed', seconds: 3 },
    'Switched off. Person on any camera, if the last look confirms it, also while a person is there: fires siren ' +
      'for 3 s.',
  ],
  [
    { labels: ['boar'], fire: ['valve'], hours: ['20:00-22:00', 'sunset-sunrise'] },
    'Boar on any camera, from 20:00 to 22:00 and from sunset to sunrise: fires valve.',
  ],
])('%o: %s', (rule, sentence) => {
  expect(ruleSentence(rulesSettings.parse([{ name: 'A', ...rule }])[0]!)).toBe(sentence)
})
