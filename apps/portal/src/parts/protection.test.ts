import { expect, it } from 'vitest'
import type { ProtectionState } from '@hedgerow/contract/protection'
import { unprotected } from './protection.ts'

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
