import { afterEach, expect, test, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub } from '#testing/hub.ts'

afterEach(() => vi.useRealTimers())

test.each(testEngines)('an expired session is reported to listeners and its row deleted, on %s', async (engine) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const hub = await startTestHub(engine)
  const id = await hub.addUser('walker', 'user', 'a long password')
  const start = () => hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
  const { sessionId: older } = await hub.sessions.authenticate(await start())
  hub.clock.advance(3_000_000)
  const { sessionId: younger } = await hub.sessions.authenticate(await start())
  const ended = Promise.withResolvers<string>()
  hub.sessions.onEnded(ended.resolve)

  hub.clock.advance(1_000_000)
  vi.advanceTimersByTime(10_000)
  expect(await ended.promise).toBe(older)
  expect(await hub.sessions.find(older)).toBeUndefined()
  expect(await hub.sessions.find(younger)).toMatchObject({ userId: id, username: 'walker', role: 'user' })
  expect(await hub.db.selectFrom('sessions').select('id').execute()).toEqual([{ id: younger }])
  await hub.stop()
})

test('a session that two end at the same time is told once, and again when it was seen meanwhile', async () => {
  const hub = await startTestHub('sqlite')
  const id = await hub.addUser('walker', 'user', 'a long walk at dawn')
  const { sessionId } = await hub.sessions.authenticate(
    await hub.sessions.start({ id }, { sourceIp: '', userAgent: '' }),
  )
  const row = await hub.db.selectFrom('sessions').selectAll().where('id', '=', sessionId).executeTakeFirstOrThrow()
  const ended: string[] = []
  hub.sessions.onEnded((each) => ended.push(each))
  await Promise.all([hub.sessions.endAllOf(id), hub.sessions.endAllOf(id), hub.sessions.end(sessionId)])
  expect(ended).toEqual([sessionId])
  // As after a clock that was wrong: the row is valid again.
  await hub.db.insertInto('sessions').values(row).execute()
  expect(await hub.sessions.find(sessionId)).toMatchObject({ userId: id })
  await hub.sessions.end(sessionId)
  expect(ended).toEqual([sessionId, sessionId])
  await hub.stop()
})
