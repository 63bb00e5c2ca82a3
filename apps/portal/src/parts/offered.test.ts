import { COMMAND_LIFETIME_MS, type Gateway, type SnoozeKind } from '@hedgerow/contract'
import { ONLY_WATCHES, type ProtectionState } from '@hedgerow/contract/protection'
import { expect, it } from 'vitest'
import { offered, OFFLINE_REASON } from './offered.ts'

const live = (state: ProtectionState, mayManage = true, reason = '', snoozes: Gateway['snoozes'] = []) =>
  offered({ state, reason, snoozes }, mayManage).map(({ key, disabled }) => (disabled ? `no ${key}` : key))
const snooze = (kind: SnoozeKind, camera: string | null) => ({ kind, camera, by: 'rosa', until: '' })

it('offers only Stop of an offline gateway, with the reason', () => {
  expect(live('offline')).toEqual(['stop', 'no pause', 'no disarm', 'no snooze'])
  expect(live('protected')).toEqual(['stop', 'pause', 'disarm', 'snooze'])
  expect(live('disarmed')).toEqual(['stop', 'arm', 'snooze'])
  expect(live('disarmed', false)).toEqual(['stop', 'snooze'])
})

it('offers no Stop where nothing can fire', () => {
  expect(live('protected', true, ONLY_WATCHES)).toEqual(['pause', 'disarm', 'snooze'])
})

it('offers to end each snooze, and maintenance to managers', () => {
  const all = [snooze('snooze', null), snooze('maintenance', null), snooze('snooze', 'gate')]
  const ends = ['End snooze', 'End maintenance', 'End snooze of gate']
  expect(live('maintenance', true, '', all)).toEqual(['stop', ...ends, 'snooze'])
  expect(live('maintenance', false, '', all)).toEqual(['stop', 'End snooze', 'End snooze of gate', 'snooze'])
  expect(live('disarmed', true, '', [all[0]!])).toEqual(['stop', 'arm', 'End snooze', 'snooze'])
  expect(live('snoozed', true, '', [all[2]!])).toEqual(['stop', 'End snooze of gate', 'pause', 'disarm', 'snooze'])
})

it('says for how long the hub tries a Stop', () => {
  expect(OFFLINE_REASON).toContain(`Stop is tried for ${COMMAND_LIFETIME_MS / 1_000} s.`)
})
