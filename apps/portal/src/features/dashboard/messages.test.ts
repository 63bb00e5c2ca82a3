import { expect, it } from 'vitest'
import { allWell, threatBanner, waitingForApproval } from './messages.ts'

it('has the exact text of the threat banner', () => {
  expect(threatBanner(7)).toBe('7 potential threats detected today. Review gateway logs for details.')
})

it('counts the waiting gateways', () => {
  expect(waitingForApproval(1)).toBe('1 gateway waits for approval')
  expect(waitingForApproval(3)).toBe('3 gateways wait for approval')
})

it('calls gateways protected only when they are', () => {
  expect(allWell(1, true)).toBe('The gateway is protected.')
  expect(allWell(3, true)).toBe('All 3 gateways are protected.')
  expect(allWell(3, false)).toBe('No gateway has a known problem.')
})
