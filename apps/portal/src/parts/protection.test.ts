import { expect, it } from 'vitest'
import type { ProtectionState } from '@hedgerow/contract/protection'
import { reasonAt, unprotected } from './protection.ts'

const as = (states: readonly ProtectionState[], isBrief = false) =>
  states.map((state) => ({ state, reason: '', until: null, isBrief }))

it.each([
  [['protected', 'firing'], undefined, undefined],
  [[], undefined, undefined],
  [['disarmed'], 'The gateway is not protected: disarmed', 'warning'],
  [['protected', 'disarmed'], '1 of 2 gateways is not protected: 1 disarmed', 'warning'],
  [
    ['protected', 'disarmed', 'offline', 'firing'],
    '2 of 4 gateways are not protected: 1 offline, 1 disarmed',
    'danger',
  ],
  [['unproven', 'protected'], '1 of 2 gateways is not protected: 1 unproven', 'plain'],
] as const)('gateways that are %j: %s', (states, words, tone) => {
  expect(unprotected(as(states))?.words).toBe(words)
  expect(unprotected(as(states))?.tone).toBe(tone)
})

it('has every state among the counts, so that the sum is the number', () => {
  const states = ['offline', 'disarmed', 'blind', 'blocked', 'unproven', 'firing', 'protected'] as const
  expect(unprotected(as(states))?.words).toBe(
    '5 of 7 gateways are not protected: 1 offline, 1 disarmed, 1 blind, 1 blocked, 1 unproven',
  )
})

it('does not count a cool-down of seconds', () => {
  expect(unprotected(as(['blocked'], true))).toBeUndefined()
  expect(unprotected([...as(['blocked'], true), ...as(['blocked'])])?.words).toBe(
    '1 of 2 gateways is not protected: 1 blocked',
  )
})

const NOW = Date.parse('2026-11-27T02:00:00Z')
const WARNS = 'heartbeat 5 s ago, disk 93 % full'
const IS_WELL = 'heartbeat 5 s ago, VPN handshake 9 s ago'

it.each([
  ['warning', 'protected', '', null, WARNS, WARNS],
  ['online', 'protected', '', null, IS_WELL, IS_WELL],
  ['offline', 'offline', 'nothing is heard from it', null, 'no heartbeat for 9 min', 'no heartbeat for 9 min'],
  ['online', 'disarmed', 'by rosa', null, IS_WELL, 'Disarmed by rosa until somebody arms it'],
  ['warning', 'disarmed', 'by rosa', '07:00', WARNS, `Disarmed by rosa until 07:00 · ${WARNS}`],
  ['online', 'firing', 'Water', '02:00', IS_WELL, 'Firing: Water, 8 s left'],
  ['warning', 'firing', 'Water', '02:00', WARNS, `Firing: Water, 8 s left · ${WARNS}`],
  ['warning', 'blocked', 'cooling down', '02:00', WARNS, `Blocked: cooling down, 8 s left · ${WARNS}`],
  ['warning', 'blind', 'camera gate is offline', null, 'camera gate is offline', 'camera gate is offline'],
  ['warning', 'blind', 'no camera watches', null, WARNS, `Blind: no camera watches · ${WARNS}`],
] as const)('of a gateway that is %s and %s (%s, %s) it tells both reasons', (...row) => {
  const [status, state, reason, clock, statusReason, expected] = row
  const until = clock === null ? null : `2026-11-27T${clock}:${clock === '02:00' ? '08' : '00'}Z`
  // The zone is named only where that of the person who looks is another one.
  const said = reasonAt(
    { status, statusReason, protection: { state, reason, until, isBrief: true }, timeZone: 'UTC' },
    NOW,
  )
  expect(said.replace(' UTC', '')).toBe(expected)
})
