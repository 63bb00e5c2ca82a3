import { expect, test } from 'vitest'
import { isPersonLabel } from './person-label.ts'

test.each([
  'person',
  'People',
  'man',
  'woman',
  'pedestrian',
  'pedestrians',
  'child',
  'Human face',
  'human_head',
  'person: Ann',
])('%j is a person', (label) => expect(isPersonLabel(label)).toBe(true))

test.each(['boar', 'personal', 'mandrill', 'bodyguard dog', 'snowman', ''])('%j is none', (label) => {
  expect(isPersonLabel(label)).toBe(false)
})
