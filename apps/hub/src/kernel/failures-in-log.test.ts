import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onceForEachFailure } from './failures-in-log.ts'
import { HubError } from './hub-error.ts'

let lines: Record<string, unknown>[]
let log: pino.Logger

beforeEach(() => {
  vi.useFakeTimers()
  lines = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  log = pino({ level: 'info', hooks: onceForEachFailure() }, { write })
})
afterEach(() => vi.useRealTimers())

const away = () =>
  new HubError('storage_unavailable', {
    cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
  })
const messages = () => lines.map(({ msg }) => msg)

test('an unavailable database is one line wherever it is noticed, and one more when it is back', async () => {
  const request = log.child({ reqId: 1 })
  for (let second = 0; second < 60; second++) {
    log.warn({ err: away() }, 'heartbeats could not be written yet')
    log.warn({ err: away() }, 'the fleet could not be looked over')
    request.warn({ err: away().cause, code: 'storage_unavailable' }, 'The hub is not ready.')
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ msg: 'the database does not work', reason: 'connect ECONNREFUSED', level: 40 })
  expect(JSON.stringify(lines[0]), 'no stack').not.toContain('at ')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(lines.slice(1)).toMatchObject([{ msg: 'the database works again', seconds: 59, failures: 180, level: 30 }])
  expect(vi.getTimerCount(), 'nothing is still running').toBe(0)

  log.warn({ err: away() }, 'heartbeats could not be written yet')
  expect(messages().at(-1), 'the next outage is logged again').toBe('the database does not work')
})

test('another repeated failure is logged once with its stack, then counted; a new one is logged at once', async () => {
  const tell = (reason: string) => log.warn({ err: new Error(reason) }, 'a notification could not be sent')
  for (let i = 0; i < 5; i++) tell('the mailbox is full')
  tell('no such address')
  expect(lines.map(({ err }) => (err as Error).message)).toEqual(['the mailbox is full', 'no such address'])
  expect((lines[0]!.err as Error).stack).toContain('at ')
  await vi.advanceTimersByTimeAsync(20_000)
  expect(lines.slice(2), 'a single failure gets no closing line').toMatchObject([
    { msg: 'over: a notification could not be sent', failures: 5 },
  ])
})

test('entries without a failure are logged each time, and levels and formats are pino’s', () => {
  for (let i = 0; i < 3; i++) log.info({ gatewayId: 'barn' }, 'gateway %s', 'status')
  log.debug({ err: new Error('hidden') }, 'not at this level')
  expect(messages()).toEqual(['gateway status', 'gateway status', 'gateway status'])
})
