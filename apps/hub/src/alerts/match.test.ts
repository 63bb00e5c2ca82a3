import { ALERT_RULE_DEFAULTS, type AlertRuleFields } from '@hedgerow/contract'
import { describe, expect, it } from 'vitest'
import { matches, type Place, type Occurrence } from './match.ts'

type Candidate = Place & Occurrence

const at = (time: string) => new Date(`2026-05-01T${time}:00`).getTime()
const candidate: Candidate = {
  kind: 'detection',
  gatewayId: 'abcdefghijkl',
  siteId: 'Valley',
  tags: ['north', 'orchard'],
  label: 'boar',
  severity: 'alert',
  camera: 'orchard',
  isValidated: false,
  at: at('12:00'),
}
const rule = (change: Partial<AlertRuleFields>) => ({ ...ALERT_RULE_DEFAULTS, name: 'Rule', ...change })

describe('an alert rule', () => {
  it.each<[string, Partial<AlertRuleFields>, Partial<Candidate>, boolean]>([
    ['any alert', {}, {}, true],
    ['no other detection', {}, { severity: 'detection' }, false],
    ['any detection when told so', { severity: 'any' }, { severity: 'detection' }, true],
    ['nothing when off', { enabled: false }, {}, false],
    ['its labels', { labels: ['deer', 'boar'] }, {}, true],
    ['no other label', { labels: ['deer'] }, {}, false],
    ['any animal', { labels: ['animal'] }, {}, true],
    ['its sites', { sites: ['Hill'] }, {}, false],
    ['one of its tags', { tags: ['south', 'orchard'] }, {}, true],
    ['no other tag', { tags: ['south'] }, {}, false],
    ['the hub itself, which has no tags', { tags: ['south'] }, { gatewayId: '', tags: [] }, true],
    ['its gateways', { gateways: ['abcdefghijkl'] }, {}, true],
    ['its cameras', { cameras: ['gate'] }, {}, false],
    ['what is confirmed', { validatedOnly: true }, { isValidated: true }, true],
    ['nothing unconfirmed when told so', { validatedOnly: true }, {}, false],
    ['the first minute', { hours: { from: '12:00', to: '13:00' } }, {}, true],
    ['not the last minute', { hours: { from: '11:00', to: '12:00' } }, {}, false],
    ['before midnight', { hours: { from: '22:00', to: '06:00' } }, { at: at('23:30') }, true],
    ['after midnight', { hours: { from: '22:00', to: '06:00' } }, { at: at('05:59') }, true],
    ['not by day', { hours: { from: '22:00', to: '06:00' } }, {}, false],
  ])('tells of %s', (_what, fields, change, told) => {
    expect(matches(rule(fields), { ...candidate, ...change })).toBe(told)
  })
})
