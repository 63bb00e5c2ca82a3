import type { ActivityEntry } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { targetOf, threatsOfHour, threatsToday } from './targets.ts'

const entry: ActivityEntry = {
  id: '1',
  message: '',
  timestamp: '2026-05-01T12:00:00Z',
  type: 'info',
  gatewayId: null,
  kind: null,
  detection: null,
}

test.each([
  [{ detection: { id: 'd', incidentId: 'i1', hasThumbnail: true }, gatewayId: 'g1' }, '/threats?incident=i1'],
  [{ gatewayId: 'g1', kind: 'detection.reported' }, '/threats?gateway=g1'],
  [{ gatewayId: 'g1', kind: 'gateway.edited' }, '/gateways/g1'],
  [{ gatewayId: 'g1' }, '/gateways/g1'],
  [{ kind: 'user-invitation.created' }, '/users'],
  [{ kind: 'registration.pending' }, '/gateway-approvals'],
  [{ kind: 'gateway-invitation.created' }, '/gateway-invitations'],
  [{ kind: 'rollout.stopped' }, '/versions'],
  [{ kind: 'settings.changed' }, '/settings'],
  [{ kind: 'settings.restored' }, '/settings?tab=network'],
  [{ kind: 'gateway.deleted' }, '/gateways'],
  [{ kind: 'certificate.renewed' }, '/settings?tab=certificates'],
  [{}, undefined],
  [{ kind: 'something.new' }, undefined],
] as const)('an entry with %j leads to %s', (change, target) => {
  expect(targetOf({ ...entry, ...change })).toBe(target)
})

test('the threats of today and of an hour', () => {
  expect(threatsToday(new Date(2026, 0, 5, 23))).toBe('/threats?severity=alert&from=2026-01-05')
  expect(threatsOfHour('2026-05-01T12:00:00.000Z')).toBe(
    '/threats?severity=alert&from=2026-05-01T12%3A00%3A00.000Z&to=2026-05-01T13%3A00%3A00.000Z',
  )
})
