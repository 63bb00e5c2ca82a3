/** Which clock decides that a signed list has expired: real lists, installation and disk; the two clocks are set. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { signText } from '@hedgerow/releases'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeRelease, writeVersion } from '../../testing/signed-release.ts'
import { openComparison } from './comparison.ts'
import { openInstallation } from './installation.ts'
import type { Updater } from './updater.ts'

const log = pino({ level: 'silent' })
const NOW = Date.now()
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS
const iso = (time: number) => new Date(time).toISOString()
const { keys, rootKey } = makeRelease(1)

/** A release that was made and expired as a real one: it is good for a year. */
const madeAt = (number: number, createdAt: number) =>
  makeRelease(number, { release: { createdAt: iso(createdAt), expiresAt: iso(createdAt + YEAR_MS) } }, keys).files

/** The same, with the list of keys `number`, which is good for two years. */
function withKeys(files: Map<string, Buffer>, number: number, expiresAt: number): Map<string, Buffer> {
  const trusted = { number, expiresAt: iso(expiresAt), keys: keysOf(files) }
  const signed = signText('hedgerow release keys v1', JSON.stringify(trusted), [keys.root])
  return new Map([...files, ['keys.json', Buffer.from(signed)]])
}

const jsonOf = (file: Buffer): { text: string; signatures: { key: string }[] } => JSON.parse(file.toString())
const keysOf = (files: Map<string, Buffer>) => jsonOf(files.get('release.json')!).signatures.map(({ key }) => key)

let root: string
let updater: Updater | undefined
let handedOut = new Map<string, Buffer>()
let own = NOW
let attempt = 0
const restart = vi.fn<() => void>()
const hub = createServer((request, response) => response.end(handedOut.get(request.url!.slice(1))))

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-floor-'))
  mkdirSync(join(root, 'updates'))
  writeVersion(join(root, 'current'), { number: 3 })
  writeFileSync(join(root, 'root.pub'), `${rootKey}\n`)
  restart.mockClear()
  own = NOW
  await new Promise<void>((resolve) => hub.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await updater?.stop()
  await new Promise((resolve) => hub.close(resolve))
  rmSync(root, { recursive: true })
})

const download = (name: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    get({ port: (hub.address() as AddressInfo).port, path: `/${name}`, agent: false }, resolve).on('error', reject)
  })

async function start(): Promise<Updater> {
  await updater?.stop()
  rmSync(join(root, 'updates'), { recursive: true })
  mkdirSync(join(root, 'updates'))
  const parts = () => ({ cameras: [], deterrents: [], isGuarded: false, guardsLost: 0, waiting: 0 })
  updater = await openInstallation(
    { root, slot: '' },
    {
      dataDir: root,
      settings: () => ({ enabled: true }),
      place: () => ({}),
      isBusy: () => false,
      onFailure: () => {},
      hasCrashed: () => false,
      comparison: await openComparison(join(root, 'before.json'), {
        deviceFile: join(root, 'none'),
        parts,
        recentMs: 120_000,
        log,
      }),
      restart,
      log,
      clock: () => own,
    },
  )
  return updater
}

/** What came of a heartbeat that asks for release `number`, with the hub's clock at `serverTime`. */
async function outcome(number: number, serverTime: number): Promise<string> {
  const agent = await start()
  restart.mockClear()
  agent.heard({ update: { number, attempt: ++attempt, byHand: true }, serverTime, features: [] }, download)
  return vi.waitFor(
    () => {
      const { state, message } = agent.state()
      if (restart.mock.calls.length > 0) return 'installed'
      expect(state).toBe('failed')
      return message
    },
    { timeout: 20_000, interval: 10 },
  )
}

/** A heartbeat that asks for nothing. */
async function heard(serverTime: number): Promise<void> {
  const agent = await start()
  agent.heard({ serverTime, features: [] }, download)
  await agent.stop()
}

const kept = (): unknown =>
  existsSync(join(root, 'update.json'))
    ? JSON.parse(readFileSync(join(root, 'update.json'), 'utf8')).seen.createdAt
    : undefined

describe('a hub with a clock that was set back', () => {
  it.each([
    ['a day behind the end', 366 * DAY_MS],
    ['two years', 2 * YEAR_MS],
    ['to 1970', NOW],
  ])('cannot revive an expired release: %s', async (_, back) => {
    handedOut = madeAt(5, NOW - YEAR_MS - DAY_MS)
    expect(await outcome(5, NOW - back)).toMatch(/^The release has expired; this device's clock says .*is wrong\.$/)
  })

  it('cannot revive a key that was rotated out, once its list has expired', async () => {
    handedOut = withKeys(madeAt(5, NOW - DAY_MS), 1, NOW - 1)
    expect(await outcome(5, NOW - 2 * YEAR_MS)).toMatch(/^The list of release keys has expired;/)
  })

  it('cannot do so after a power cut either, when the device starts in 1970', async () => {
    await heard(NOW)
    own = 0
    handedOut = madeAt(5, NOW - YEAR_MS - 2 * DAY_MS)
    expect(await outcome(5, NOW - 2 * YEAR_MS)).toMatch(/^The release has expired/)
  })

  it('cannot do so on a device in 1970 whose version was made later', async () => {
    own = 0
    writeVersion(join(root, 'current'), { number: Math.floor((NOW - DAY_MS) / 1000) })
    const next = Math.floor(NOW / 1000)
    handedOut = madeAt(next, NOW - 2 * YEAR_MS)
    expect(await outcome(next, NOW - 2 * YEAR_MS)).toMatch(/^The release has expired/)
  })
})

it('a key that was rotated out stays so when the new list of keys came with a release that was refused', async () => {
  const files = madeAt(5, NOW - DAY_MS)
  handedOut = withKeys(madeAt(2, NOW - DAY_MS), 2, NOW + YEAR_MS)
  expect(await outcome(5, NOW)).toBe('The release is older than one that was accepted here.')
  handedOut = withKeys(files, 1, NOW + YEAR_MS)
  expect(await outcome(5, NOW)).toBe('The list of release keys is older than one that was seen here.')
})

describe('a valid release is taken', () => {
  it.each([
    ['by a device that starts in 1970', 0, NOW],
    ['by a device that is two years behind', NOW - 2 * YEAR_MS, NOW],
    ['although the hub is two years behind', NOW, NOW - 2 * YEAR_MS],
    ['although both start in 1970', 0, 0],
  ])('%s', async (_, device, server) => {
    own = device
    handedOut = madeAt(5, NOW - DAY_MS)
    expect(await outcome(5, server)).toBe('installed')
  })

  it.each([
    ["the device's", NOW + 40 * YEAR_MS, NOW],
    ["the hub's", NOW, NOW + 40 * YEAR_MS],
  ])('again, after %s clock had leapt ahead', async (_, device, server) => {
    own = device
    handedOut = madeAt(5, NOW - DAY_MS)
    expect(await outcome(5, server)).toMatch(/^The list of release keys has expired; .*set the one that is wrong\.$/)
    own = NOW
    expect(await outcome(5, NOW)).toBe('installed')
  })
})

it('keeps the time that both clocks have reached, and no earlier one later', async () => {
  await heard(NOW - YEAR_MS)
  expect(kept()).toBe(NOW - YEAR_MS)
  await heard(NOW)
  expect(kept()).toBe(NOW)
  own = 0
  await heard(NOW + YEAR_MS)
  expect(kept()).toBe(NOW)
})
