import type { AlertRule } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { fieldsOf, inWords, NEW, valuesOf } from './fields.ts'

const nameOf = (siteId: string) => ({ valley: 'Valley' })[siteId] ?? ''
const rule: AlertRule = {
  id: 'x',
  name: 'Boars at night',
  enabled: false,
  severity: 'any',
  labels: ['boar', 'deer'],
  sites: ['valley'],
  tags: ['north', 'orchard'],
  gateways: ['abcdefghijkl'],
  cameras: [],
  validatedOnly: true,
  hours: [{ from: '22:00', to: '06:00' }],
  collectSeconds: 10,
  coolDownSeconds: 60,
  channels: ['ntfy'],
  people: [],
  what: ['detection', 'camera-dark'],
  holdOffMinutes: 10,
  language: 'de',
  breaksThrough: true,
  steps: [{ afterMinutes: 15, channels: ['email'], people: ['rosa'] }],
  last: null,
}

it('a rule is unchanged by its form, also in fields that the form does not show', () => {
  const { id: _id, last: _last, ...fields } = rule
  expect(fieldsOf(valuesOf(rule), rule)).toEqual(fields)
  expect(fieldsOf({ ...NEW, labels: ' boar, ,boar,fox ' })).toMatchObject({ labels: ['boar', 'fox'], hours: null })
})

it('a rule’s conditions are one line', () => {
  expect(inWords(rule, nameOf)).toBe(
    'boar, deer · confirmed by the second look · Cameras without new pictures · at Valley · tagged north or ' +
      'orchard · 1 gateway · 22:00-06:00 · 1 step until acknowledged',
  )
  expect(inWords({ ...fieldsOf(NEW), what: ['camera-dark', 'disk'] }, nameOf)).toBe(
    'Cameras without new pictures, a full disk of the hub',
  )
  const weekend = { ...fieldsOf({ ...NEW, hours: 'Mon-Fri 18:00-06:00; sat,sun' }) }
  expect(inWords(weekend, nameOf)).toBe('Every alert · Mon-Fri 18:00-06:00; Sat,Sun')
  expect(inWords(fieldsOf(NEW), nameOf)).toBe('Every alert')
})
