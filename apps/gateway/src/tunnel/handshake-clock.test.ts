import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openHandshakeClock } from './handshake-clock.ts'

const RIGHT = Date.parse('2026-05-01T10:00:00Z')
const log = pino({ level: 'silent' })
let directory: string
let path: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'handshake-clock-'))
  path = join(directory, 'handshake-clock.json')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

describe('the handshake clock', () => {
  it('continues when the device restarts in 1970, after a stop and after a crash', async () => {
    const first = await openHandshakeClock(path, { log, wallClock: () => RIGHT })
    const last = first.now().unixMs
    // Writes the file that a crash leaves.
    const left = JSON.parse(await readFile(path, 'utf8')) as { usedBeforeMs: number }
    expect(left.usedBeforeMs).toBeGreaterThan(last)
    await first.stop()
    const second = await openHandshakeClock(path, { log, wallClock: () => 0 })
    expect(second.now().unixMs).toBeGreaterThan(last)
    await second.stop()
  })

  it('never goes back when the device’s clock or the hub’s does', async () => {
    let wall = RIGHT
    const clock = await openHandshakeClock(path, { log, wallClock: () => wall })
    let before = clock.now().unixMs
    const isLater = () => {
      const { unixMs } = clock.now()
      const result = unixMs >= before
      before = unixMs
      return result
    }
    wall -= 86_400_000
    expect(isLater()).toBe(true)
    clock.followHub(() => RIGHT + 400 * 86_400_000)
    expect(isLater()).toBe(true)
    expect(before).toBeGreaterThanOrEqual(RIGHT + 400 * 86_400_000)
    clock.followHub(() => 0)
    expect(isLater()).toBe(true)
    await clock.stop()
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ usedBeforeMs: expect.any(Number) })
  })

  it('shows the hub’s time on a device that lost the time', async () => {
    const clock = await openHandshakeClock(path, { log, wallClock: () => 0 })
    expect(clock.now().unixMs).toBeLessThan(RIGHT)
    clock.followHub(() => RIGHT)
    expect(clock.now().unixMs).toBeGreaterThanOrEqual(RIGHT)
    await clock.stop()
  })
})
