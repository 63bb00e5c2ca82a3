import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'
import { createThrottle } from './throttle.ts'

test('a password verifies in every Unicode composition of its letters', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('caf\u00e9 society')
  expect(await passwords.verify('cafe\u0301 society', hash)).toBe(true)
  expect(await passwords.verify('cafe society', hash)).toBe(false)
})

test('the empty password is wrong for an unknown name', async () => {
  expect(await createPasswords().verify('', undefined)).toBe(false)
})

test('work above the queue’s limit is refused, and the rest is done', async () => {
  const passwords = createPasswords({ concurrency: 1, queueLimit: 2 })
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => passwords.hash('x')))
  expect(outcomes.map((outcome) => outcome.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
    'rejected',
  ])
  expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'too_many_requests' } })
  await expect(passwords.hash('y')).resolves.toMatch(/^\$argon2id/)
})

test('each failure after the free ones doubles the wait, up to the longest', () => {
  let now = 1_000_000
  const throttle = createThrottle({ free: 2, maxWaitMs: 60_000, clock: () => now })
  const waits = Array.from({ length: 10 }, () => {
    throttle.failed('a')
    return throttle.waitMs('a')
  })
  expect(waits).toEqual([0, 0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  expect(throttle.waitMs('b')).toBe(0)
  now += 60_000
  expect(throttle.waitMs('a')).toBe(0)
  throttle.failed('a')
  expect(throttle.waitMs('a')).toBe(0)
})

test('a clock that is set back a year does not lock anybody out for a year', () => {
  let now = 1_800_000_000_000
  const throttle = createThrottle({ free: 0, maxWaitMs: 60_000, clock: () => now })
  throttle.failed('a')
  now -= 365 * 86_400_000
  expect(throttle.waitMs('a')).toBeLessThanOrEqual(60_000)
})

test('a crowd of addresses takes bounded memory, and the oldest is dropped first', () => {
  const throttle = createThrottle({ free: 0, maxWaitMs: 60_000, clock: () => 0, capacity: 2 })
  for (const key of ['a', 'b', 'c']) throttle.failed(key)
  expect(['a', 'b', 'c'].map((key) => throttle.waitMs(key) > 0)).toEqual([false, true, true])
})

test('strangers push each other out of the queue, but not known people', async () => {
  const passwords = createPasswords({ concurrency: 1, queueLimit: 5 })
  const hash = await passwords.hash('gravel-lantern-42')
  const stranger = (i: number) => passwords.verify('guess', hash, `198.51.${i}.1`)
  const before = Array.from({ length: 6 }, (_, i) => stranger(i))
  const known = passwords.verify('gravel-lantern-42', hash)
  const pushedOut = Promise.allSettled([passwords.verify('gravel-lantern-42', hash, '203.0.113.1')])
  const after = Array.from({ length: 20 }, (_, i) => stranger(100 + i))
  const settled = await Promise.allSettled([...before, ...after])
  expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  expect(await pushedOut).toMatchObject([{ status: 'rejected', reason: { code: 'too_many_requests' } }])
  expect(await known).toBe(true)
})
