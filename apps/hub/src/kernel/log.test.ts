import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createHub } from '../hub.ts'
import { readConfig } from '../read-config.ts'
import { createTestDatabase } from '#testing/databases.ts'
import { escapeInvisible, plainLine } from './log.ts'

const entry = (fields: object) =>
  JSON.stringify({ level: 30, time: 1_800_000_000_000, pid: 1, hostname: 'h', ...fields })

test('an entry is one plain line: time, level, message, details', () => {
  expect(plainLine(entry({ msg: 'request', route: '/api/v1/hub/stats', ms: 3 }))).toBe(
    '08:00:00 info request route="/api/v1/hub/stats" ms=3\n',
  )
})

test('outside text can neither start a line nor control a terminal', () => {
  const line = plainLine(entry({ msg: 'a\n08:00:00 info forged', name: 'b\u001b[2J\nc' }))
  expect(line.match(/\n/g)).toHaveLength(1)
  expect(line).not.toContain('\u001b')
})

test('invisible, direction-changing and C1 characters are escaped, and JSON stays JSON', () => {
  const name = 'a\u009b2Jb\u202egnp\u200b\u2028c\u00ad'
  const json = escapeInvisible(entry({ name }))
  expect(JSON.parse(json)).toMatchObject({ name })
  for (const written of [json, plainLine(entry({ name }))]) expect(written).toMatch(/^[\x20-\x7e]+\n?$/)
})

test('an error keeps its stack', () => {
  const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at here' }
  expect(plainLine(entry({ level: 50, msg: 'failed', err }))).toBe(
    '08:00:00 error failed\n    Error: no\n    at here\n',
  )
})

test('text quoted by an error can neither start a line nor control a terminal', () => {
  const err = {
    type: 'Error',
    message: 'no',
    stack: 'Error: no "a\n08:00:00 info forged\r08:00:00 info forged\u001b[2J"',
  }
  const line = plainLine(entry({ level: 50, msg: 'failed', err }))
  expect(line).not.toMatch(/^08:00:00 info/m)
  expect(line).not.toContain('\u001b')
})

test('passwords, tokens, requested addresses and bodies stay out of the log', async () => {
  const { url, remove } = await createTestDatabase('sqlite')
  const config = readConfig({ HUB_DATABASE_URL: url, HUB_VPN_BACKEND: 'off', HUB_ADMIN_PASSWORD: 'hunter-two-hunter' })
  const lines: string[] = []
  const hub = await createHub({ config, log: pino({ level: 'debug' }, { write: (line) => void lines.push(line) }) })
  const payload = { username: 'admin', password: 'hunter-two-hunter' }
  const signedIn = await hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', payload })
  const { accessToken } = signedIn.json<{ accessToken: string }>()
  await hub.app.inject({
    url: '/api/v1/auth/validate?token=DT-0123456789AB',
    headers: { authorization: `Bearer ${accessToken}` },
  })
  await hub.app.inject({ url: '/api/v1/DT-0123456789AB' })
  await hub.stop()
  await remove()
  const log = lines.join('')
  expect(log).toContain('/api/v1/auth/login')
  for (const secret of ['hunter-two-hunter', accessToken, 'DT-0123456789AB']) expect(log).not.toContain(secret)
})
