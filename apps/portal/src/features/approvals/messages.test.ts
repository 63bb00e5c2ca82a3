import { rejectRegistration } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import {
  approvedMessage,
  approveFailed,
  EMPTY_TEXT,
  EMPTY_TITLE,
  loadFailed,
  rejectedMessage,
  rejectFailed,
} from './messages.ts'

it('says what the specification quotes, to the letter', () => {
  expect(approvedMessage({ deviceName: 'North Field', assignedIp: '10.100.0.2' })).toBe(
    'Gateway "North Field" approved successfully! VPN IP: 10.100.0.2',
  )
  expect(rejectedMessage('North Field')).toBe('Gateway "North Field" rejected.')
  expect(loadFailed('x')).toBe('Failed to load pending requests: x')
  expect(approveFailed('x')).toBe('Failed to approve registration: x')
  expect(rejectFailed('x')).toBe('Failed to reject registration: x')
  expect(`${EMPTY_TITLE} - ${EMPTY_TEXT}`).toBe(
    'No Pending Requests - All gateway registration requests have been processed.',
  )
})

it('asks for a reason in the words of the specification', () => {
  const refused = rejectRegistration.body.safeParse({ reason: '   ' })
  expect(refused.error?.issues.map((issue) => issue.message)).toEqual(['Rejection reason is required'])
})
