import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createTasks } from './tasks.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const FAILURE = 'the work failed'

function start() {
  const lines: { msg: string; err?: { message: string } }[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { lines, tasks: createTasks({ log, name: 'test', on: 'each hub', failure: FAILURE }) }
}

/** Work that ends when the test says so. */
function held() {
  const starts: PromiseWithResolvers<void>[] = []
  const work = () => {
    const begun = Promise.withResolvers<void>()
    starts.push(begun)
    return begun.promise
  }
  return { starts, work }
}

test('work runs in turn, each after the one before', async () => {
  const { tasks } = start()
  const { starts, work } = held()
  const first = tasks.run(work)
  const second = tasks.run(work)
  await vi.advanceTimersByTimeAsync(0)
  expect(starts).toHaveLength(1)
  starts[0]!.resolve()
  await first
  await vi.advanceTimersByTimeAsync(0)
  expect(starts).toHaveLength(2)
  starts[1]!.resolve()
  await second
})

test('an unfinished turn skips the next ones, then the rhythm continues', async () => {
  const { tasks } = start()
  const { starts, work } = held()
  tasks.every(1_000, work)
  await vi.advanceTimersByTimeAsync(999)
  expect(starts).toHaveLength(0)
  await vi.advanceTimersByTimeAsync(5_001)
  expect(starts).toHaveLength(1)
  starts[0]!.resolve()
  await vi.advanceTimersByTimeAsync(999)
  expect(starts, 'skipped turns are not repeated').toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(starts).toHaveLength(2)
})

test('a failure is logged, and the next turn runs', async () => {
  const { tasks, lines } = start()
  let turns = 0
  const work = () => {
    turns++
    throw new Error(`turn ${turns}`)
  }
  tasks.every(1_000, work)
  await vi.advanceTimersByTimeAsync(2_000)
  await expect(tasks.run(work)).resolves.toBeUndefined()
  expect(lines.map(({ msg, err }) => [msg, err?.message])).toEqual([
    [FAILURE, 'turn 1'],
    [FAILURE, 'turn 2'],
    [FAILURE, 'turn 3'],
  ])
})

test('work requested with soon runs once, however often it is requested', async () => {
  const { tasks } = start()
  let runs = 0
  const work = () => runs++
  tasks.soon(1_000, work)
  tasks.soon(1_000, work)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toBe(1)
  tasks.soon(1_000, work)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toBe(2)
})

test('stop waits for running work, then for the last work, and nothing runs afterwards', async () => {
  const { tasks } = start()
  const { starts, work } = held()
  const seen: string[] = []
  tasks.every(1_000, () => void seen.push('turn'))
  tasks.soon(1_000, () => void seen.push('soon'))
  const first = tasks.run(work)
  const stopped = tasks.stop(() => void seen.push('last')).then(() => seen.push('stopped'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(seen).toEqual([])
  starts[0]!.resolve()
  await first
  await stopped
  await tasks.run(() => void seen.push('late'))
  tasks.every(1_000, () => void seen.push('late'))
  tasks.soon(1_000, () => void seen.push('late'))
  await tasks.stop(() => void seen.push('again'))
  await vi.advanceTimersByTimeAsync(5_000)
  expect(seen).toEqual(['last', 'stopped'])
  expect(vi.getTimerCount()).toBe(0)
})
