import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { startTestHub } from '../http/test-hub.ts'
import { createRetention } from './retention.ts'

const DAY_MS = 86_400_000

afterEach(() => vi.useRealTimers())

test('what is too old is forgotten every day, with nobody asking', async () => {
  const hub = await startTestHub('sqlite')
  const { db } = hub
  const old = Date.now() - 91 * DAY_MS
  let now = Date.now()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const retention = createRetention({ db, clock: () => now, log: pino({ level: 'silent' }) })
  retention.start()
  const count = async () => (await db.selectFrom('activity').select('id').execute()).length
  for (const passedMs of [60_000, DAY_MS, DAY_MS]) {
    await db.insertInto('activity').values({ at: old, type: 'info', message: 'long ago' }).execute()
    now += passedMs
    vi.advanceTimersByTime(passedMs)
    await vi.waitFor(async () => expect(await count()).toBe(0), { timeout: 30_000 })
  }
  await retention.stop()
  vi.useRealTimers()
  await hub.stop()
})
