import { COMMAND_LIFETIME_MS } from '@hedgerow/contract'
import { ONLY_WATCHES, type ProtectionState } from '@hedgerow/contract/protection'
import { expect, it } from 'vitest'
import { offered, OFFLINE_REASON } from './offered.ts'

const live = (state: ProtectionState, mayArm = true, reason = '') =>
  offered({ state, reason }, mayArm).map(({ key, disabled }) => (disabled ? `no ${key}` : key))

it('offers only Stop of an offline gateway, with the reason', () => {
  expect(live('offline')).toEqual(['stop', 'no pause', 'no disarm'])
  expect(live('protected')).toEqual(['stop', 'pause', 'disarm'])
  expect(live('disarmed')).toEqual(['stop', 'arm'])
  expect(live('disarmed', false)).toEqual(['stop'])
})

it('offers no Stop where nothing can fire', () => {
  expect(live('protected', true, ONLY_WATCHES)).toEqual(['pause', 'disarm'])
})

it('says for how long the hub tries a Stop', () => {
  expect(OFFLINE_REASON).toContain(`Stop is tried for ${COMMAND_LIFETIME_MS / 1_000} s.`)
})
