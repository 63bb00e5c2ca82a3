import { expect, test } from 'vitest'
import { escapeInvisible, plainLine } from './log-lines.ts'

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
