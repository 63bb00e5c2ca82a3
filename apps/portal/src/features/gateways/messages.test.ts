import { expect, it } from 'vitest'
import { accessFailed, NOT_AUTHORIZED } from '#api/access-messages.ts'
import { claimedMessage, noMatch, numberOfGateways, siteMessage, taggedMessage } from './messages.ts'

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
  expect(noMatch({ search: ' ', status: 'warning', protection: 'any', tag: '' })).toBe('No gateway has a warning now.')
  expect(noMatch({ search: 'x ', status: 'any', protection: 'any', tag: '' })).toMatch(/^No gateway has “x” in/)
  expect(noMatch({ search: 'x', status: 'offline', protection: 'any', tag: '' })).toMatch(
    /^No gateway that is offline has “x” in/,
  )
  expect(noMatch({ search: '', status: 'any', protection: 'attention', tag: '' })).toBe(
    'No gateway needs attention now.',
  )
  expect(noMatch({ search: '', status: 'any', protection: 'any', tag: 'north' })).toBe(
    'No gateway has the tag “north”.',
  )
  expect(noMatch({ search: '', status: 'offline', protection: 'any', tag: 'north' })).toBe(
    'No gateway with the tag “north” is offline now.',
  )
})

it('says before saving what happens to all that names a site', () => {
  const uses = { gatewayIds: ['a', 'b'], rules: ['Boars', 'Deer'], hasUpdates: true, views: 1 }
  const named =
    'The site “Hill” is named by the alert rules “Boars”, “Deer” and by automatic updates of its own and by 1 ' +
    'saved view.'
  expect(siteMessage('Hill', ' Top ', ['a', 'b'], uses)).toBe(
    `${named} No gateway stays there, so this follows to “Top”.`,
  )
  expect(siteMessage('Hill', 'Top', ['a'], uses)).toBe(
    `${named} 1 gateway stays there, so this does not change, and does not cover the new location.`,
  )
  expect(siteMessage('Hill', '', ['a', 'b'], uses)).toMatch(/covers none: change it, or enter a location\.$/)
  expect(siteMessage('Hill', 'Hill', ['a'], uses)).toBeUndefined()
  expect(siteMessage('Hill', 'Top', ['a'], { ...uses, rules: [], hasUpdates: false, views: 0 })).toBeUndefined()
})
