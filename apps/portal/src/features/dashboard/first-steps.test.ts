import { expect, it } from 'vitest'
import { firstSteps } from './first-steps.ts'

const NEW = { gateways: 0, users: 1, hubName: '', notificationEmail: '' }
const doneOf = (hub: Partial<typeof NEW>) => firstSteps({ ...NEW, ...hub }).map(({ done }) => done)

it('ticks each step when it is done', () => {
  expect(doneOf({})).toEqual([false, false, false, false])
  expect(doneOf({ gateways: 1, users: 2 })).toEqual([true, false, false, true])
})

it('ends when all is done, or the hub is in use', () => {
  expect(doneOf({ gateways: 1, users: 2, hubName: 'Mill', notificationEmail: 'a@example.net' })).toEqual([])
  expect(doneOf({ gateways: 6 })).toEqual([])
})
