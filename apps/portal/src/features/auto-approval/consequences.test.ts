import { AUTO_APPROVAL_DEFAULTS, type AutoApprovalSettings } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { consequencesOf } from './consequences.ts'

const of = (change: Partial<AutoApprovalSettings>) => consequencesOf({ ...AUTO_APPROVAL_DEFAULTS, ...change })

test('on a new hub only an invitation approves a device', () => {
  expect(of({})).toEqual([
    'A device with a valid gateway invitation joins at once, from anywhere.',
    'No address or network is listed, so no device joins by its address.',
    'Every other device waits for a person.',
  ])
})

test('when off, every device waits', () => {
  expect(of({ enabled: false, ipWhitelist: ['198.51.100.7'] })).toEqual([
    'Every device waits for a person, even with an invitation or from a listed address or network.',
  ])
})

test.each([
  [{ autoApproveWithInvitation: false }, 'A device with a valid gateway invitation waits for a person.'],
  [
    { ipWhitelist: ['198.51.100.7'], networkRanges: ['10.0.0.0/8'] },
    'A device from the 2 addresses and networks listed below waits for a person, marked as coming from a trusted ' +
      'network.',
  ],
  [
    { networkRanges: ['10.0.0.0/8'], requireAdminApproval: false },
    'A device from the address or network listed below joins at once, without an invitation.',
  ],
])('with %j: %s', (change, sentence) => {
  expect(of(change)).toContain(sentence)
})
