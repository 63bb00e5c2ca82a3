import { expect, it } from 'vitest'
import { allProtected, threatBanner, waitingForApproval } from './messages.ts'

it('has the exact text of the threat banner', () => {
  expect(threatBanner(7)).toBe('7 potential threats detected today. Review gateway logs for details.')
})

it('counts the waiting gateways', () => {
  expect(waitingForApproval(1)).toBe('1 gateway waits for approval')
  expect(waitingForApproval(3)).toBe('3 gateways wait for approval')
})

it('says that all are protected', () => {
  expect(allProtected(1)).toBe('The gateway is protected.')
  expect(allProtected(3)).toBe('All 3 gateways are protected.')
})
