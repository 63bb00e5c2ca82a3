import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRestarts } from './restarts.ts'

const MINUTE_MS = 60_000
let folder: string
let now: number
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-restarts-'))
  now = 5 * MINUTE_MS
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (boot = 'one') =>
  openRestarts(join(folder, 'restarts.json'), { log: pino({ level: 'silent' }), boot, now: () => now })

it('counts ends that nobody asked for, by a clock that never leaps', async () => {
  expect((await open()).report()).toEqual({ sinceBoot: 0, lastHour: 0, lastDay: 0, reason: '' })
  for (let index = 0; index < 3; index++) {
    now += 20 * MINUTE_MS
    await open()
  }
  const counted = await open()
  expect(counted.report()).toEqual({
    sinceBoot: 4,
    lastHour: 4,
    lastDay: 4,
    reason: 'for an unknown reason, as when it is killed or has no memory left',
  })
  expect(counted.problems()).toEqual([
    'The agent restarted 4 times in the last hour; the last end: for an unknown reason, as when it is killed or ' +
      'has no memory left.',
  ])
  now += 50 * MINUTE_MS
  expect(counted.report()).toMatchObject({ lastHour: 2, lastDay: 4 })
  expect(counted.problems()).toEqual([])
  now += 24 * 60 * MINUTE_MS
  expect(counted.report()).toMatchObject({ sinceBoot: 4, lastHour: 0, lastDay: 0 })
})

it('counts no stop, and no start of the device', async () => {
  await (await open()).end()
  expect((await open()).report().sinceBoot).toBe(0)
  expect((await open('two')).report().sinceBoot).toBe(0)
  expect((await open('two')).report().sinceBoot).toBe(1)
})

it('warns of one every few hours too', async () => {
  for (let index = 0; index < 7; index++) {
    now += 180 * MINUTE_MS
    await open()
  }
  expect((await open()).problems()).toEqual([expect.stringMatching(/^The agent restarted 7 times in the last day;/)])
})

it('begins anew with a damaged file', async () => {
  await open()
  writeFileSync(join(folder, 'restarts.json'), '{"boot":')
  expect((await open()).report().sinceBoot).toBe(0)
})
