import { expect, it } from 'vitest'
import type { AuditEntry } from '@hedgerow/contract'
import { sentenceOf } from './sentences.ts'

const names = {
  gateways: [{ id: 'aaaaaaaaaaaa', name: 'Barn' }],
  users: [{ id: 'u1', username: 'rosa.lind' }],
}
const entry = (change: Partial<AuditEntry>): AuditEntry => ({
  id: '1',
  at: '2026-11-22T07:00:00.000Z',
  actor: 'rosa.lind',
  action: 'gateway.edit',
  target: 'aaaaaaaaaaaa',
  subject: null,
  sourceIp: null,
  result: 'ok',
  reason: null,
  ...change,
})

it('names the actor and the gateway, and links both', () => {
  expect(sentenceOf(entry({}), names)).toEqual({
    actor: { text: 'rosa.lind', path: '/users?q=rosa.lind' },
    words: 'edited the gateway',
    target: { text: 'Barn', path: '/gateways/aaaaaaaaaaaa' },
    ending: '',
  })
})

it('names users by their username, and deleted targets by their id', () => {
  expect(sentenceOf(entry({ actor: 'hub', action: 'user.create', target: 'u1' }), names)).toEqual({
    actor: { text: 'The hub' },
    words: 'added the user',
    target: { text: 'rosa.lind', path: '/users?q=rosa.lind' },
    ending: '',
  })
  expect(sentenceOf(entry({ target: 'bbbbbbbbbbbb' }), names).target).toEqual({ text: 'bbbbbbbbbbbb' })
})

it('names channels as the portal does', () => {
  const test = (target: string) => sentenceOf(entry({ action: 'notification.test', target }), names)
  expect(test('mqtt')).toMatchObject({ words: 'asked for a test message over', target: { text: 'MQTT' } })
  expect(test('all channels').target).toEqual({ text: 'all channels' })
})

it('says which settings changed in words; the keys are all that older entries have', () => {
  const change = { action: 'settings.change', target: 'enableVpn' }
  expect(sentenceOf(entry({ ...change, reason: 'VPN: on → off' }), names)).toMatchObject({
    words: 'changed the settings: VPN: on → off',
    target: undefined,
    ending: '',
  })
  expect(sentenceOf(entry(change), names)).toMatchObject({ target: { text: 'enableVpn' }, ending: '' })
})

it('names requests and incidents as the hub does', () => {
  const subject = { name: 'boar at Barn', path: '/threats?incident=i1' }
  expect(sentenceOf(entry({ action: 'incident.review', target: 'i1', subject }), names)).toMatchObject({
    words: 'reviewed the incident',
    target: { text: 'boar at Barn', path: '/threats?incident=i1' },
  })
  const device = { name: 'River gate', path: null }
  expect(sentenceOf(entry({ action: 'registration.approve', target: 'r1', subject: device }), names)).toMatchObject({
    words: 'approved the request of',
    target: { text: 'River gate' },
  })
})

it('links the gateway of a command', () => {
  const ended = entry({ action: 'command.end', target: 'fire sprinkler of aaaaaaaaaaaa', result: 'refused' })
  expect(sentenceOf(ended, names)).toMatchObject({
    words: 'gave a command that was not carried out: fire sprinkler of',
    target: { text: 'Barn', path: '/gateways/aaaaaaaaaaaa' },
  })
})

it('says how an alert was acknowledged, and why a command was not carried out', () => {
  const by = { actor: 'Somebody unknown', reason: 'by the link in a message over ntfy' }
  expect(sentenceOf(entry({ action: 'alert.acknowledge', target: 'boar at Barn', ...by }), names)).toEqual({
    actor: { text: 'Somebody unknown' },
    words: 'acknowledged the alert',
    target: { text: 'boar at Barn' },
    ending: ', by the link in a message over ntfy',
  })
  const ended = entry({ action: 'command.end', target: 'fire siren of aaaaaaaaaaaa', result: 'refused' })
  expect(sentenceOf({ ...ended, reason: 'A person is in view.' }, names).ending).toBe(': A person is in view.')
})

it('says what was refused', () => {
  const refused = entry({ actor: 'nobody', action: 'session.start', target: null, result: 'refused' })
  expect(sentenceOf(refused, names)).toEqual({
    actor: { text: 'nobody' },
    words: 'could not sign in',
    target: undefined,
    ending: '',
  })
})

it('shows an action that it does not know as its code', () => {
  expect(sentenceOf(entry({ action: 'orchard.prune', target: 'x' }), names)).toMatchObject({
    words: 'orchard.prune',
    target: { text: 'x' },
  })
})
