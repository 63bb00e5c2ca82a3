import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createHandshakeQueue, isHandshakeMessage } from './handshake-queue.ts'

const from = { address: '192.0.2.1', port: 1 }
const message = (number: number) => Uint8Array.of(number >> 8, number & 0xff)

/** With a cost, by a clock that tells only the time that messages took. */
function createQueue(costMs: number) {
  if (costMs > 0) vi.useFakeTimers({ toFake: ['performance'] })
  const handled: number[] = []
  let refused = 0
  const queue = createHandshakeQueue(
    ([high = 0, low = 0]) => {
      handled.push((high << 8) | low)
      if (costMs > 0) vi.advanceTimersByTime(costMs)
    },
    () => refused++,
  )
  return { queue, handled, refused: () => refused }
}

afterEach(() => {
  vi.useRealTimers()
})

test('what comes in one turn is handled in order, a little in each turn', async () => {
  const { queue, handled } = createQueue(1)
  for (let i = 0; i < 5; i++) queue.push(message(i), from)
  expect(handled).toEqual([])
  for (let turns = 1; turns <= 5; turns++) {
    await nextTurn()
    expect(handled.length).toBeLessThanOrEqual(turns)
  }
  await nextTurn()
  expect(handled).toEqual([0, 1, 2, 3, 4])
})

test('cheap ones share a turn', async () => {
  const { queue, handled } = createQueue(0)
  for (let i = 0; i < 20; i++) queue.push(message(i), from)
  await nextTurn()
  await nextTurn()
  expect(handled).toHaveLength(20)
})

test('the queue is bounded, reports what it refuses, and accepts more when it has room again', async () => {
  const { queue, handled, refused } = createQueue(0)
  for (let round = 1; round <= 3; round++) {
    for (let i = 0; i < 8_200; i++) queue.push(message(i), from)
    expect(refused()).toBe(8 * round)
    while (handled.length < 8_192 * round) await nextTurn()
  }
  expect(handled.slice(8_192, 8_192 + 8_192)).toEqual(Array.from({ length: 8_192 }, (_, i) => i))
})

test('what waited until its sender asks anew is refused, what came after it is not', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { queue, handled, refused } = createQueue(0)
  queue.push(message(1), from)
  vi.advanceTimersByTime(2_000)
  queue.push(message(2), from)
  vi.advanceTimersByTime(1_000)
  await nextTurn()
  await nextTurn()
  expect({ handled, refused: refused() }).toEqual({ handled: [2], refused: 1 })
})

test('nothing is handled after clear', async () => {
  const { queue, handled } = createQueue(0)
  queue.push(message(1), from)
  queue.clear()
  await nextTurn()
  await nextTurn()
  expect(handled).toEqual([])
  queue.push(message(2), from)
  await nextTurn()
  await nextTurn()
  expect(handled).toEqual([2])
})

test('only initiations and responses wait', () => {
  const like = (type: number, size: number) => Uint8Array.from({ length: size }, (_, i) => (i === 0 ? type : 0))
  expect(isHandshakeMessage(like(1, 148))).toBe(true)
  expect(isHandshakeMessage(like(2, 92))).toBe(true)
  for (const other of [like(1, 147), like(2, 148), like(3, 64), like(4, 148), new Uint8Array(0)]) {
    expect(isHandshakeMessage(other)).toBe(false)
  }
})

test('beside other work that makes turns long, handshakes get a fifth of the time, up to 20 ms a turn', async () => {
  const { queue, handled } = createQueue(1)
  for (let i = 0; i < 100; i++) queue.push(message(i), from)
  const handledInTurns: number[] = []
  for (const otherWorkMs of [50, 50, 1_000, 0]) {
    const before = handled.length
    vi.advanceTimersByTime(otherWorkMs)
    await nextTurn()
    handledInTurns.push(handled.length - before)
  }
  expect(handledInTurns).toEqual([10, 10, 20, 1])
  queue.clear()
})
