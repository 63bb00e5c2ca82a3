import { expect, it } from 'vitest'
import { accessFailed, NOT_AUTHORIZED } from '#api/access-messages.ts'
import { claimedMessage, noMatch } from './messages.ts'

it('says the agreed words, to the letter', () => {
  expect(NOT_AUTHORIZED).toBe('You are not authorized to access this gateway')
  expect(accessFailed('no answer')).toBe('Failed to access gateway: no answer')
})

it('says whether a claimed gateway still waits for approval', () => {
  expect(claimedMessage({ name: 'Barn', status: 'claimed', gatewayId: null })).toBe('Gateway "Barn" is yours.')
  expect(claimedMessage({ name: 'Barn', status: 'pending', gatewayId: null })).toContain('still waits for approval')
})

it('says what was looked for where nothing is found', () => {
  expect(noMatch({ search: ' ', status: 'warning' })).toBe('No gateway is in warning now.')
  expect(noMatch({ search: 'x ', status: 'any' })).toMatch(/^Nothing in the fleet has “x” in/)
  expect(noMatch({ search: 'x', status: 'offline' })).toMatch(/^No gateway that is offline has “x” in/)
})
