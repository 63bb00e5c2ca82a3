import { expect, it } from 'vitest'
import { accessFailed, NOT_AUTHORIZED } from '#api/access-messages.ts'
import { claimedMessage, noMatch, numberOfGateways, taggedMessage } from './messages.ts'

it('has the exact messages', () => {
  expect(NOT_AUTHORIZED).toBe('You are not authorized to access this gateway')
  expect(accessFailed('no answer')).toBe('Failed to access gateway: no answer')
})

it('says whether a claimed gateway still waits for approval', () => {
  expect(claimedMessage({ name: 'Barn', status: 'claimed', gatewayId: null })).toBe('Gateway "Barn" is yours.')
  expect(claimedMessage({ name: 'Barn', status: 'pending', gatewayId: null })).toContain('still waits for approval')
})

it('counts one gateway and several', () => {
  expect([0, 1, 2].map(numberOfGateways)).toEqual(['0 gateways', '1 gateway', '2 gateways'])
  expect([0, 1, 2].map(taggedMessage)).toEqual([
    'They had these tags already.',
    'Tags of 1 gateway changed.',
    'Tags of 2 gateways changed.',
  ])
})

it('names the search when nothing is found', () => {
  expect(noMatch({ search: ' ', status: 'warning', protection: 'any', site: '', tag: '' })).toBe(
    'No gateway has a warning now.',
  )
  expect(noMatch({ search: 'x ', status: 'any', protection: 'any', site: '', tag: '' })).toMatch(
    /^No gateway has “x” in/,
  )
  expect(noMatch({ search: 'x', status: 'offline', protection: 'any', site: '', tag: '' })).toMatch(
    /^No gateway that is offline has “x” in/,
  )
  expect(noMatch({ search: '', status: 'any', protection: 'attention', site: '', tag: '' })).toBe(
    'No gateway needs attention now.',
  )
  expect(noMatch({ search: '', status: 'any', protection: 'any', site: '', tag: 'north' })).toBe(
    'No gateway has the tag “north”.',
  )
  expect(noMatch({ search: '', status: 'offline', protection: 'any', site: '', tag: 'north' })).toBe(
    'No gateway with the tag “north” is offline now.',
  )
  expect(noMatch({ search: '', status: 'any', protection: 'any', site: 'x', tag: 'north' })).toBe(
    'There is no gateway of this site with the tag “north”.',
  )
})
