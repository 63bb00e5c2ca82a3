/** How long a board goes on without an agent. The other properties are in `safety.test.ts`. */
import { afterEach, expect, it } from 'vitest'
import { createBoard, type Board } from './board.ts'
import { instantNow } from './clock.ts'

let board: Board
let isReached = false
const driver = {
  on: async () => 'on',
  off: async () => {
    if (!isReached) throw new Error('out of reach')
    return 'off'
  },
}
const events: string[] = []
const unit = { id: 'valve', name: 'valve', settings: { driver: 'test' } }
afterEach(() => board.close())

function open(mayBeOn: boolean): void {
  isReached = false
  events.length = 0
  board = createBoard({
    openDriver: () => ({ driver, answerMs: 100, redact: (text) => text }),
    clock: instantNow,
    report: (_unit, { event }) => events.push(event),
  })
  board.guard([{ ...unit, mayBeOn }])
}
const YEAR_MS = 365 * 86_400_000

it('tries 20 s when nothing was on', () => {
  open(false)
  expect([board.isQuiet(), board.isQuiet(20_000), board.isQuiet(20_001)]).toEqual([false, false, true])
})

it('tries without end when another process may have switched it on', () => {
  open(true)
  expect([board.isQuiet(20_001), board.isQuiet(YEAR_MS)]).toEqual([false, false])
})

it('tries without end when it switched on itself, until it is off', async () => {
  open(false)
  isReached = true
  await expect.poll(() => board.isQuiet()).toBe(true)
  isReached = false
  board.on('valve', 'firing', 600)
  await expect.poll(() => events.at(-1)).toBe('on')
  board.off(['valve'])
  await expect.poll(() => events.at(-1)).toBe('fault')
  expect([board.isQuiet(20_001), board.isQuiet(YEAR_MS)]).toEqual([false, false])
  isReached = true
  await expect.poll(() => board.isQuiet(), { timeout: 30_000 }).toBe(true)
  isReached = false
  board.off(['valve'])
  await expect.poll(() => events.at(-1)).toBe('fault')
  expect([board.isQuiet(20_000), board.isQuiet(20_001)]).toEqual([false, true])
})
