import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub } from '#testing/hub.ts'
import { createRetention } from './retention.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const YEAR_MS = 365 * DAY_MS

const log = pino({ level: 'silent' })

afterEach(() => vi.useRealTimers())

test.each(testEngines)(
  'a clock that was a year ahead deletes nothing when it is corrected within a day, on %s',
  async (engine) => {
    const hub = await startTestHub(engine)
    const { db } = hub
    const start = Date.now()
    let [now, uptimeMs] = [start, 0]
    let looks = 0
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    const clock = () => {
      looks++
      return now
    }
    const retention = createRetention({ db, clock, log, uptime: () => uptimeMs })
    /** Checks once, `passedMs` later by the clock that nobody sets and `ms` later by the wall clock. */
    const look = async (passedMs: number, ms = passedMs) => {
      ;[now, uptimeMs] = [now + ms, uptimeMs + passedMs]
      const before = looks
      vi.advanceTimersByTime(HOUR_MS)
      await vi.waitFor(() => expect(looks).toBeGreaterThan(before), { timeout: 30_000 })
      await retention.deleteRowsOf('none')
    }
    const left = async () =>
      (await db.selectFrom('activity').select('message').orderBy('id').execute()).map((row) => row.message)
    const young = { at: start, type: 'info' as const, message: 'today' }
    await db
      .insertInto('activity')
      .values([{ ...young, at: start - 91 * DAY_MS, message: 'long ago' }, young])
      .execute()

    retention.start()
    await look(HOUR_MS, HOUR_MS + YEAR_MS)
    await look(HOUR_MS)
    expect(await left()).toEqual(['long ago', 'today'])
    await look(HOUR_MS, HOUR_MS - YEAR_MS)
    await look(DAY_MS)
    expect(await left()).toEqual(['today'])

    await look(HOUR_MS, HOUR_MS + YEAR_MS)
    expect(await left()).toEqual(['today'])
    await look(DAY_MS)
    expect(await left(), 'a clock that stays ahead counts as right').toEqual([])
    await retention.stop()
    vi.useRealTimers()
    await hub.stop()
  },
)

test.each(testEngines)(
  'rows that a hub stored while its clock was 400 days behind survive a day after its correction, with restarts, on %s',
  async (engine) => {
    const hub = await startTestHub(engine)
    const { db } = hub
    const right = Date.now()
    let [now, uptimeMs] = [right, 0]
    const start = () => createRetention({ db, clock: () => now, log, uptime: () => uptimeMs })
    const accept = async (message: string) =>
      db.insertInto('activity').values({ at: now, type: 'info', message }).execute()
    const left = async () =>
      (await db.selectFrom('activity').select('message').orderBy('id').execute()).map((row) => row.message)

    // The hub had the right time before, so the last row is not the newest.
    await accept('before')
    await start().purge()
    now -= 400 * DAY_MS
    const behind = start()
    await behind.purge()
    await accept('meanwhile')
    await behind.stop()

    ;[now, uptimeMs] = [right + HOUR_MS, 0]
    const first = start()
    await first.purge()
    expect(await left()).toEqual(['before', 'meanwhile'])
    ;[now, uptimeMs] = [now + DAY_MS / 2, uptimeMs + DAY_MS / 2]
    await first.purge()
    await first.stop()
    // The hold is a day of running time: a restart does not shorten it.
    const second = start()
    await second.purge()
    expect(await left()).toEqual(['before', 'meanwhile'])
    ;[now, uptimeMs] = [now + DAY_MS / 2, uptimeMs + DAY_MS / 2]
    await second.purge()
    expect(await left()).toEqual(['before'])
    await second.stop()
    await hub.stop()
  },
)

test('old rows are deleted every day without a request', async () => {
  const hub = await startTestHub('sqlite')
  const { db } = hub
  const old = Date.now() - 91 * DAY_MS
  let now = Date.now()
  await db.insertInto('activity').values({ at: now, type: 'info', message: 'today' }).execute()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const retention = createRetention({ db, clock: () => now, log })
  retention.start()
  const count = async () => (await db.selectFrom('activity').select('id').where('at', '=', old).execute()).length
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

test.each(testEngines)('the line of a warning stays while that lasts, however old it is, on %s', async (engine) => {
  const hub = await startTestHub(engine)
  const now = Date.now()
  const lasting = await insertTestGateway(hub.db, { name: 'Lasting' })
  const gone = await insertTestGateway(hub.db, { name: 'Gone' })
  const line = (days: number, gateway_id: string, type: 'warning' | 'success', message: string) => ({
    at: now - days * DAY_MS,
    type,
    message,
    gateway_id,
    kind: 'gateway.status-changed',
  })
  await hub.db
    .insertInto('activity')
    .values([
      line(120, lasting, 'warning', 'one problem'),
      line(110, lasting, 'warning', 'two problems'),
      line(105, gone, 'warning', 'over'),
      line(100, gone, 'success', 'online'),
      line(95, 'deleted', 'warning', 'of a deleted gateway'),
    ])
    .execute()
  const retention = createRetention({ db: hub.db, clock: () => now, log })
  await retention.purge()
  const left = await hub.db.selectFrom('activity').select('message').execute()
  expect(left.map(({ message }) => message)).toEqual(['two problems'])
  await retention.stop()
  await hub.stop()
})

test('a purge that failed is tried again soon, not at the next look', async () => {
  const hub = await startTestHub('sqlite')
  const { db } = hub
  const now = Date.now()
  const rows = async () => (await db.selectFrom('activity').select('message').execute()).map((row) => row.message)
  await db
    .insertInto('activity')
    .values({ at: now - 91 * DAY_MS, type: 'info', message: 'long ago' })
    .execute()
  await sql`create trigger busy before delete on activity begin select raise(abort, 'deadlock detected'); end`.execute(
    db,
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
  const retention = createRetention({ db, clock: () => now, log })
  await retention.purge()
  await sql`drop trigger busy`.execute(db)
  expect(await rows()).toContain('long ago')
  vi.advanceTimersByTime(30_000)
  await vi.waitFor(async () => expect(await rows()).not.toContain('long ago'), { timeout: 30_000 })
  await retention.stop()
  vi.useRealTimers()
  await hub.stop()
})
