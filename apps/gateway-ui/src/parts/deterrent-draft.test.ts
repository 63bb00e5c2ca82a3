import { describe, expect, test } from 'vitest'
import type { DeterrentField, DeterrentKind } from '@hedgerow/contract/deterrent-setup'
import { draftOf, editsOf, given, limitsInWords, PROPOSED, writtenOf } from './deterrent-draft.ts'

const field = (key: string, type: DeterrentField['type'], usual: DeterrentField['usual'] = null): DeterrentField => ({
  key,
  type,
  description: '',
  options: [],
  minimum: null,
  maximum: null,
  usual,
  isRequired: usual === null,
  isSecret: false,
})
const kind: DeterrentKind = {
  driver: 'opensprinkler',
  summary: '',
  fields: [field('address', 'text'), field('station', 'number'), field('verifyCertificate', 'switch', true)],
  others: ['state'],
  needsText: false,
  outputKeys: ['station'],
}

describe('a new deterrent', () => {
  const values = { address: 'http://10.0.0.7', station: ' 3 ', verifyCertificate: true }

  test('is one value, without what is usual', () => {
    const written = writtenOf(kind, { name: 'Lawn', values, limits: PROPOSED })
    expect(editsOf('Lawn', written)).toEqual([
      {
        path: ['deterrents', 'Lawn'],
        value: {
          driver: 'opensprinkler',
          address: 'http://10.0.0.7',
          station: 3,
          seconds: 10,
          coolDownSeconds: 30,
          secondsADay: 600,
        },
      },
    ])
  })

  test('keeps what is no number, so that the device can say so', () => {
    const written = writtenOf(kind, { name: 'Lawn', values: { ...values, station: 'three' }, limits: PROPOSED })
    expect(given(written)).toMatchObject({ station: 'three' })
  })
})

describe('a changed deterrent', () => {
  const before = {
    driver: 'opensprinkler',
    address: '${SPRINKLER}',
    station: 3,
    state: { on: 'x' },
    armed: '22:00-06:00',
  }

  test('has no edit before somebody changes it, whatever its file leaves out', () => {
    const draft = draftOf('Lawn', before)
    expect(editsOf('Lawn', writtenOf(kind, draft), writtenOf(kind, draft))).toEqual([])
  })

  test('changes what was changed, key by key, and deletes what is empty now', () => {
    const draft = draftOf('Lawn', { ...before, secondsADay: 60, watchedBy: ['gate'] })
    const found = writtenOf(kind, draft)
    const limits = { ...draft.limits, seconds: '5', secondsADay: '', people: 'none' as const }
    const after = writtenOf(kind, { ...draft, values: { ...draft.values, verifyCertificate: false }, limits })
    expect(editsOf('Lawn', after, found)).toEqual([
      { path: ['deterrents', 'Lawn', 'verifyCertificate'], value: false },
      { path: ['deterrents', 'Lawn', 'seconds'], value: 5 },
      { path: ['deterrents', 'Lawn', 'secondsADay'] },
      { path: ['deterrents', 'Lawn', 'watchedBy'], value: [] },
    ])
  })
})

describe('its hours', () => {
  const before = { driver: 'gpio', quietHours: ['22:00-06:00'], armed: 'sunset-sunrise', maximumSeconds: 20 }
  const found = writtenOf(kind, draftOf('Lawn', before))
  const changed = (limits: object) => {
    const draft = draftOf('Lawn', before)
    return editsOf('Lawn', writtenOf(kind, { ...draft, limits: { ...draft.limits, ...limits } }), found)
  }

  test('are one range or several, and go when they are empty', () => {
    expect(changed({})).toEqual([])
    expect(changed({ quietHours: 'Sat,Sun; Mon-Fri 22:00-06:00' })).toEqual([
      { path: ['deterrents', 'Lawn', 'quietHours'], value: ['Sat,Sun', 'Mon-Fri 22:00-06:00'] },
    ])
    expect(changed({ quietHours: '22:00-06:00, 12:00-13:00', armed: ' ' })).toEqual([
      { path: ['deterrents', 'Lawn', 'quietHours'], value: ['22:00-06:00', '12:00-13:00'] },
      { path: ['deterrents', 'Lawn', 'armed'] },
    ])
  })

  test('stand beside its longest firing and the budget of an hour', () => {
    expect(changed({ maximumSeconds: '', secondsAnHour: '120' })).toEqual([
      { path: ['deterrents', 'Lawn', 'maximumSeconds'] },
      { path: ['deterrents', 'Lawn', 'secondsAnHour'], value: 120 },
    ])
  })
})

test.each([
  [
    PROPOSED,
    /^Fires for 10 s, then waits 30 s\. At most 5 min an hour and 10 min a day\. A person on any camera blocks it/,
  ],
  [{ ...PROPOSED, secondsADay: '9000', people: 'none' as const }, / and 2\.5 h a day\. People do not block it\.$/],
  [
    { ...PROPOSED, quietHours: '22:00-06:00, 12:00-13:00', armed: 'sunset+30m-sunrise', maximumSeconds: '600' },
    new RegExp(
      '^Nothing and nobody fires it 22:00-06:00 and 12:00-13:00. Rules and programs fire it only ' +
        'sunset[+]30m-sunrise. Fires for 10 s, for 10 min at most, then waits 30 s. At most 10 min a day. ',
    ),
  ],
  [{ ...PROPOSED, secondsAnHour: '60', quietHours: 'at night' }, /^Nothing and nobody fires it …\. .* 60 s an hour /],
  [{ ...PROPOSED, people: 'some' as const, cameras: ['gate', 'yard'] }, /A person on gate or yard blocks it, /],
  [{ ...PROPOSED, seconds: 'x' }, /^Fires for …, /],
])('limits mean %#', (limits, sentence) => {
  expect(limitsInWords(limits)).toMatch(sentence)
})
