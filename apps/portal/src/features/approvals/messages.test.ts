import { rejectRegistration, type PendingRegistration } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import {
  approvedMessage,
  approveFailed,
  askToDecide,
  fitting,
  fullHub,
  EMPTY_TEXT,
  EMPTY_TITLE,
  held,
  rejectAllOf,
  sourceRejectedMessage,
  heldInQueue,
  loadFailed,
  onlySomeFit,
  rejectedMessage,
  rejectFailed,
} from './messages.ts'

it('has the exact messages', () => {
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

it('asks for a reason with the exact message', () => {
  const refused = rejectRegistration.body.safeParse({ reason: '   ' })
  expect(refused.error?.issues.map((issue) => issue.message)).toEqual(['Rejection reason is required'])
})

it('says why approved devices wait, once for each reason, and what ends the wait', () => {
  const full = { code: 'gateway_limit_reached', message: 'The hub is full: 245 of 245 gateways.' } as const
  const taken = { code: 'device_token_taken', message: 'Another gateway has the same device token.' } as const
  const queue = [full, null, full, taken].map((waitsFor) => ({ waitsFor }) as PendingRegistration)
  expect(heldInQueue(queue)).toEqual([
    'The hub is full: 245 of 245 gateways. 2 devices that the auto-approval settings approve join by themselves ' +
      'when you raise the limit under Settings, or delete a gateway.',
    'Another gateway has the same device token. One device that the auto-approval settings approve joins by ' +
      'itself when you delete the other gateway.',
  ])
  expect(held(full)).toBe(
    'The hub is full: 245 of 245 gateways. The auto-approval settings approve this device: it joins by itself ' +
      'when you raise the limit under Settings, or delete a gateway.',
  )
})

it('says that the hub is full while devices wait', () => {
  expect(fullHub(245, 245, 1)).toMatch(/^The hub is full: 245 of 245 gateways\./)
  expect(fullHub(246, 245, 1)).toBeDefined()
  expect(fullHub(244, 245, 1)).toBeUndefined()
  expect(fullHub(245, 245, 0)).toBeUndefined()
})

it('takes only those that fit, and every change of keys', () => {
  const queue = [null, null, 'Barn', null, 'Mill'].map((keyChangeFor, id) => ({ id, keyChangeFor }))
  const ids = (room: number) => fitting(queue, room).map(({ id }) => id)
  expect(ids(0)).toEqual([2, 4])
  expect(ids(2)).toEqual([0, 1, 2, 4])
  expect(ids(Infinity)).toEqual([0, 1, 2, 3, 4])
  expect(onlySomeFit(89, 140)).toBe('Only 89 of the 140 devices fit: then the hub is full. The others go on waiting.')
})

it('asks about one device and about several', () => {
  expect(askToDecide('approve', 1)).toBe('Approve 1 device?')
  expect(askToDecide('reject', 40)).toBe('Reject 40 devices?')
})

it('names the source and the number of requests', () => {
  expect(rejectAllOf({ source: '2001:db8::/48', waiting: 200 })).toBe('Reject all 200 from 2001:db8::/48')
  expect(sourceRejectedMessage('2001:db8::/48', 200)).toBe('200 requests from 2001:db8::/48 rejected.')
  expect(sourceRejectedMessage('198.51.100.7', 1)).toBe('1 request from 198.51.100.7 rejected.')
})
