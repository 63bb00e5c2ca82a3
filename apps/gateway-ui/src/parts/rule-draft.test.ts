import { expect, test } from 'vitest'
import { WEEK_DAYS } from '@hedgerow/contract/schedules'
import { draftOf, proposedName, ruleOf } from './rule-draft.ts'

const least = { name: 'A', labels: ['boar'], fire: ['valve'] }
const seven = [...WEEK_DAYS]

test.each([
  least,
  { ...least, cameras: ['gate'], zones: ['rows', 'path'], minimumScore: 0.7, verdict: 'confirmed' },
  { ...least, hours: 'sunset-sunrise', days: ['monday'] },
  { ...least, hours: '22:00-06:00', seconds: 5 },
  { ...least, hours: ['sunset+30m-23:30', '01:00-02:00'], seconds: [5, 12] },
  { ...least, hours: '00:00-24:00', days: ['saturday', 'sunday'] },
  { ...least, fire: ['valve', 'horn'], choose: 'one', enabled: false },
  { ...least, hours: ['Sat,Sun', 'Mon-Fri 18:00-06:00'] },
  { ...least, hours: 'Sat,Sun 10:00-12:00' },
  { ...least, minimumScore: 0, verdict: 'any', choose: 'all', aboutPersons: false, enabled: true },
  { ...least, labels: ['person'], aboutPersons: true, minimumScore: 0.57 },
])('the form of the rule %j changes nothing by itself', (rule) => {
  expect(ruleOf(draftOf(rule), rule)).toEqual(rule)
})

test('emptied fields leave the rule; some days need hours', () => {
  const rule = {
    ...least,
    cameras: ['gate'],
    minimumScore: 0.5,
    hours: '22:00-06:00',
    seconds: 5,
    verdict: 'confirmed',
  }
  const emptied = { cameras: [], score: '', when: 'always', seconds: '', secondsMost: '', isConfirmed: false } as const
  expect(ruleOf({ ...draftOf(rule), ...emptied, cameras: [] }, rule)).toEqual(least)
  expect(ruleOf({ ...draftOf(least), days: seven.slice(0, 5) }, least)).toEqual({
    ...least,
    hours: '00:00-24:00',
    days: seven.slice(0, 5),
  })
  expect(ruleOf({ ...draftOf(least), seconds: 4, secondsMost: 9 }, least)).toEqual({ ...least, seconds: [4, 9] })
})

test('a new rule has a name that no other has', () => {
  expect(proposedName({ labels: ['boar', 'deer'], cameras: ['gate'] }, [])).toBe('Boar or deer on gate')
  expect(proposedName({ labels: ['fox'], cameras: [] }, ['Fox', 'Fox 2'])).toBe('Fox 3')
})
