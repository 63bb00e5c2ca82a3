import { expect, it } from 'vitest'
import { allWell, threatBanner, waitingForApproval } from './messages.ts'

it('words the threat banner in the agreed words', () => {
  expect(threatBanner(7)).toBe('7 potential threats detected today. Review gateway logs for details.')
})

it('counts the gateways that wait', () => {
  expect(waitingForApproval(1)).toBe('1 gateway waits for approval')
  expect(waitingForApproval(3)).toBe('3 gateways wait for approval')
})

it('says that a fleet is well', () => {
  expect(allWell(1)).toBe('The one gateway is well.')
  expect(allWell(3)).toBe('All 3 gateways are well.')
})
