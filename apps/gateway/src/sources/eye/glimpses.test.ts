import type { Sighting } from '@hedgerow/vision'
import { expect, test } from 'vitest'
import { createGlimpses } from './glimpses.ts'

const person = (score: number, x = 0.4): Sighting => ({
  box: { x, y: 0.4, width: 0.1, height: 0.3 },
  label: 'person',
  score,
})

function glimpsed(looks: readonly (readonly Sighting[])[], everyMs = 200) {
  const labels: string[] = []
  const glimpses = createGlimpses(200, (label) => labels.push(label))
  const unsure = looks.map((sightings, i) => {
    glimpses.see(sightings, i * everyMs)
    return glimpses.isUnsure()
  })
  return { labels, unsure }
}

test('a sure look at a person is enough; an unsure one needs the next look to agree, which is asked for', () => {
  expect(glimpsed([[person(0.6)]])).toEqual({ labels: ['person'], unsure: [false] })
  expect(glimpsed([[person(0.3)], []])).toEqual({ labels: [], unsure: [true, false] })
  expect(glimpsed([[person(0.3)], [person(0.3)]])).toEqual({ labels: ['person'], unsure: [true, false] })
})

test('two unsure looks at different places, or far apart in time, are no person; other labels need one look', () => {
  expect(glimpsed([[person(0.3, 0.1)], [person(0.3, 0.8)]]).labels).toEqual([])
  expect(glimpsed([[person(0.3)], [person(0.3)]], 5_000).labels).toEqual([])
  expect(glimpsed([[{ ...person(0.3), label: 'dog' }]]).labels).toEqual(['dog'])
  expect(glimpsed([[person(0.2)], [person(0.2)]]).labels).toEqual([])
})
