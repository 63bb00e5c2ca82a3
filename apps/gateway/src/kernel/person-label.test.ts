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
  'Person 1',
  'delivery_person',
  'person-verified',
  'face: Ann',
  'Mensch',
  'M\u00e4nner',
  'Ma\u0308nner',
  'two people walking',
])('%j is a person', (label) => expect(isPersonLabel(label)).toBe(true))

test.each([
  'boar',
  'personal',
  'mandrill',
  'bodyguard dog',
  'snowman',
  'deer head',
  'adult boar',
  'baby goat',
  'some kind of bird',
  '',
])('%j is none', (label) => {
  expect(isPersonLabel(label)).toBe(false)
})
