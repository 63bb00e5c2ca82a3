import { expect, it } from 'vitest'
import { threatBanner, waitingForApproval } from './messages.ts'

it('words the threat banner as the specification does', () => {
  expect(threatBanner(7)).toBe('7 potential threats detected today. Review gateway logs for details.')
})

it('counts the gateways that wait', () => {
  expect(waitingForApproval(1)).toBe('1 gateway waits for approval')
  expect(waitingForApproval(3)).toBe('3 gateways wait for approval')
})
