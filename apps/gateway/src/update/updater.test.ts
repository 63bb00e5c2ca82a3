/**
 * An agent that updates itself, from a hub that may be compromised: only the signed lists and this device's own file
 * decide.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DeviceUpdates } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, assert, beforeEach, describe, expect, it, vi } from 'vitest'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { presetPassword } from '../../testing/preset-password.ts'
import { makeRelease, PLATFORM, writeVersion } from '../../testing/signed-release.ts'
import { findAgent } from '../agent-file.ts'
import { callAgent } from '../cli/call-agent.ts'
import { goBack, installationAt } from '../cli/back.ts'
import { startGateway, type Gateway } from '../gateway.ts'
import { localCalls } from '@hedgerow/contract/local-api'
import { readBundle } from './installation.ts'
import type { Slot } from './versions.ts'

const DAY_MS = 86_400_000
const WAIT = { timeout: 30_000, interval: 20 }
const release = makeRelease(5)

let root: string
let hub: FixtureHub
let gateway: Gateway | undefined
const restart = vi.fn<() => void>()

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-updater-'))
  mkdirSync(join(root, 'updates'))
  mkdirSync(join(root, 'data'))
  presetPassword(join(root, 'data'))
  writeVersion(join(root, 'current'), { number: 3 })
  writeFileSync(join(root, 'root.pub'), `${release.rootKey}\n`)
  restart.mockClear()
  hub = await startFixtureHub()
  hub.downloads = release.files
  ask(5)
})
afterEach(async () => {
  await gateway?.stop()
  await hub.stop()
  rmSync(root, { recursive: true })
})

const ask = (number: number, attempt = 1, byHand = true) => (hub.wanted = { number, attempt, byHand })
const target = (name: string) =>
  existsSync(join(root, 'updates', name)) ? readlinkSync(join(root, 'updates', name)) : undefined
const until = (check: () => void) => vi.waitFor(check, WAIT)
/** The last status of the update that the hub got. */
const told = () => hub.heartbeats.at(-1)?.update

async function start({
  slot = '' as Slot | '',
  deviceFile = '',
  isApproved = true,
  unit = join(root, 'no.service'),
} = {}): Promise<void> {
  await gateway?.stop()
  writeFileSync(join(root, 'data/gateway.yaml'), deviceFile)
  gateway = await startGateway({
    name: 'Barn',
    dataDir: join(root, 'data'),
    host: '127.0.0.1',
    port: 0,
    hubUrl: hub.url,
    log: pino({ level: 'silent' }),
    pace: { retryFirstMs: 50, retryMaxMs: 200, rejectedRecheckMs: 100, approvedRecheckMs: 200 },
    installation: { root, slot, unit },
    restart,
  })
  await until(() => expect(hub.registrations).not.toEqual([]))
  if (isApproved) hub.decide({ status: 'approved' })
}

/** What people are told, by the local API. */
async function shown(): Promise<DeviceUpdates> {
  const told: DeviceUpdates[] = []
  const { text } = await callAgent(join(root, 'data'), localCalls.getStatus, ({ updates }) => {
    told.push(updates)
    return { text: '', isDone: true }
  })
  assert(told[0], text)
  return told[0]
}
const isShown = (part: object) => vi.waitFor(async () => expect(await shown()).toMatchObject(part), WAIT)

const hasFailed = (message: RegExp) =>
  until(() => expect(told()).toMatchObject({ state: 'failed', message: expect.stringMatching(message) }))

/** Nothing was unpacked, and the old version stays. */
function nothingChanged(): void {
  expect(restart).not.toHaveBeenCalled()
  expect(hub.heartbeats.at(-1)!.release).toEqual({ number: 3, platform: PLATFORM })
  expect(readdirSync(join(root, 'updates'))).toEqual([])
}

it('fetches the release that the hub asks for through the tunnel, unpacks it, and restarts', async () => {
  await start()
  await until(() => expect(restart).toHaveBeenCalledTimes(1))
  expect(target('trial')).toBe('a')
  expect(JSON.parse(readFileSync(join(root, 'updates/a/version.json'), 'utf8'))).toEqual({
    version: '0.5.0',
    number: 5,
  })
  expect(existsSync(join(root, 'updates/archive'))).toBe(false)
})

it('continues where a connection broke off', async () => {
  const cut = Math.ceil(release.files.get(release.name)!.length / 3)
  hub.cutArchivesAt = cut
  await start()
  for (const size of [cut, 2 * cut]) {
    await until(() => expect(statSync(join(root, 'updates/archive')).size).toBe(size))
    hub.breakDownloads()
  }
  await until(() => expect(restart).toHaveBeenCalledTimes(1))
  const parts = hub.downloaded.filter(({ name }) => name === release.name).map(({ from }) => from)
  expect(parts).toEqual([0, cut, 2 * cut])
})

describe('a compromised hub', () => {
  const changed = Buffer.from(release.files.get(release.name)!)
  changed[changed.length - 1]! ^= 1

  it.each([
    ['signs with keys of its own', () => makeRelease(5), /No root key that is known here/],
    ['hands out an older release as a newer one', () => makeRelease(2, {}, release.keys), /older than one/],
    [
      'hands out another archive',
      () => ({ files: new Map([...release.files, [release.name, changed]]) }),
      /does not have the hash that its list names/,
    ],
    [
      'hands out a longer archive',
      () => ({ files: new Map([...release.files, [release.name, Buffer.concat([changed, changed])]]) }),
      /is longer than its list names/,
    ],
    ['names an archive of another version', () => makeRelease(5, { contains: 4 }, release.keys), /does not hold/],
    [
      'hands out an expired release',
      () => makeRelease(5, { release: { expiresAt: new Date(Date.now() - 1000).toISOString() } }, release.keys),
      /has expired/,
    ],
    [
      'has no archive for this device',
      () => makeRelease(5, { file: { platform: 'darwin-x64' } }, release.keys),
      /no gateway for/,
    ],
    ['hands out nothing', () => ({ files: new Map<string, Buffer>() }), /does not hand out keys\.json \(status 404\)/],
  ])('%s: nothing is installed', async (_, made, message) => {
    hub.downloads = made().files
    await start()
    await hasFailed(message)
    nothingChanged()
    expect(hub.heartbeats.at(-1)!.release!.number).toBe(3)
  })

  it('sets its clock back to before a release that was seen: lists that had expired stay expired', async () => {
    const newest = makeRelease(5, { release: { createdAt: new Date().toISOString() } }, release.keys)
    hub.downloads = newest.files
    await start({ deviceFile: 'updates: { enabled: true }' })
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    // Only the lists arrived; then the hub lies about the time to revive lists that have expired since.
    rmSync(join(root, 'updates/trial'))
    restart.mockClear()
    const expired = { expiresAt: new Date(Date.now() - DAY_MS).toISOString() }
    hub.downloads = makeRelease(6, { release: expired }, release.keys).files
    hub.serverTime = Date.now() - 365 * DAY_MS
    ask(6, 2)
    await start()
    await hasFailed(/has expired/)
    expect(restart).not.toHaveBeenCalled()
  })
})

describe("the device's own file", () => {
  it('switches updates off, whoever asks for them', async () => {
    await start({ deviceFile: 'updates: { enabled: false }' })
    await hasFailed(/switches updates off/)
    await isShown({
      state: 'failed',
      isEnabled: false,
      failure: { message: expect.stringMatching(/switches updates off/) },
    })
    expect(hub.downloaded).toEqual([])
    nothingChanged()
  })

  it('limits automatic updates to its hours, and a person’s updates not', async () => {
    // Two minutes that are half a day away.
    const at = new Date(Date.now() + DAY_MS / 2).toISOString().slice(11, 14)
    const deviceFile = `site: { timeZone: UTC }\nupdates: { hours: '${at}10-${at}11' }`
    ask(5, 1, false)
    await start({ deviceFile })
    await until(() =>
      expect(told()).toMatchObject({ state: 'waiting', message: expect.stringMatching(/^For its hours/) }),
    )
    await isShown({
      state: 'waiting',
      message: expect.stringMatching(/^For its hours/),
      offered: { number: 5, version: null, byHand: false },
      hours: [`${at}10-${at}11`],
    })
    nothingChanged()
    ask(5, 1, true)
    await start({ deviceFile })
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
  })
})

describe('a version on trial', () => {
  beforeEach(() => {
    writeVersion(join(root, 'updates/a'), { number: 5 })
    symlinkSync('a', join(root, 'updates/trial'))
  })

  it('that was given up is reported with its attempt, and tried again only on a new request', async () => {
    rmSync(join(root, 'updates'), { recursive: true })
    mkdirSync(join(root, 'updates'))
    await start()
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    // As the launcher does when it gives up a version.
    rmSync(join(root, 'updates/trial'))
    symlinkSync('a', join(root, 'updates/failed'))
    await start()
    await hasFailed(/^Version 0\.5\.0: it sent no heartbeat.*; version 0\.3\.0 runs again\.$/)
    expect(told()).toMatchObject({ number: 5, attempt: 1 })
    const failure = {
      number: 5,
      version: '0.5.0',
      message: expect.stringMatching(/^It sent no heartbeat.*runs again\.$/),
    }
    await isShown({ state: 'failed', release: 3, message: failure.message, failure })
    hub.wanted = undefined
    await isShown({ state: 'current', offered: null, failure })
    ask(5)
    await start()
    await hasFailed(/^Version 0\.5\.0/)
    expect(restart).toHaveBeenCalledTimes(1)
    ask(5, 2)
    await until(() => expect(restart).toHaveBeenCalledTimes(2))
  })
})

it('tells people since when its version runs, also after a restart', async () => {
  hub.wanted = undefined
  await start()
  await isShown({ by: 'itself', advice: '', state: 'current', release: 3, checkedAt: expect.any(String) })
  const before = await shown()
  await start()
  await isShown({ since: before.since })
  expect((await shown()).startedAt > before.startedAt).toBe(true)
  writeFileSync(join(root, 'data/update-history.json'), '{"running":')
  await start()
  expect((await shown()).since! > before.since!).toBe(true)
})

it.each(['archive', 'package', 'image'])('a bundle that came as %s is known by its description', async (form) => {
  const described = { version: '0.5.0', number: 5 }
  writeFileSync(join(root, 'version.json'), JSON.stringify(form === 'archive' ? described : { ...described, form }))
  expect(await readBundle(root)).toEqual({ ...described, form })
  writeFileSync(join(root, 'version.json'), JSON.stringify({ ...described, form: 'of the future' }))
  expect(await readBundle(root)).toEqual({ ...described, form: 'archive' })
})

it('a hub of the first version gets nothing about updates', async () => {
  hub.becomeVersion('first')
  hub.wanted = undefined
  await start()
  await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
  expect(hub.heartbeats.at(-1)).not.toHaveProperty('release')
  expect(await shown()).toMatchObject({ state: 'current', checkedAt: null })
})

it('a unit of an older installation, which cuts off the supervisor of the deterrents, is a problem', async () => {
  const unit = join(root, 'hedgerow-gateway.service')
  writeFileSync(unit, '[Service]\nExecStart=/opt/hedgerow-gateway/launch\nKillMode=mixed\n')
  await start({ unit })
  const problem = expect.stringMatching(/^The service of this device is of an older version: .* Run the hub’s line/)
  await until(() => expect(hub.heartbeats.at(-1)!.problems).toEqual([problem]))
  writeFileSync(unit, '[Service]\nExecStart=/opt/hedgerow-gateway/launch\nTimeoutStopSec=30\n')
  hub.heartbeats.length = 0
  await start({ unit })
  await until(() => expect(hub.heartbeats.at(-1)!.problems).toEqual([]))
})

it('a unit of an older installation, whose gateway can write where root reads, is a problem', async () => {
  const unit = join(root, 'hedgerow-gateway.service')
  const writes = (folder: string) => `[Service]\nReadWritePaths=/var/lib/hedgerow-gateway ${folder} /opt/updates\n`
  writeFileSync(unit, writes('/etc/hedgerow'))
  await start({ unit })
  await until(() => expect(hub.heartbeats.at(-1)!.problems).toEqual([expect.stringMatching(/can become root\. Run/)]))
  writeFileSync(unit, writes('/etc/hedgerow/gateway'))
  hub.heartbeats.length = 0
  await start({ unit })
  await until(() => expect(hub.heartbeats.at(-1)!.problems).toEqual([]))
})

it('an agent without pinned keys works, and accepts no update', async () => {
  rmSync(join(root, 'root.pub'))
  await start()
  await until(() => expect(hub.heartbeats.length).toBeGreaterThan(1))
  expect(hub.heartbeats.at(-1)).not.toHaveProperty('release')
  expect(restart).not.toHaveBeenCalled()
  await isShown({
    by: 'itself',
    advice: expect.stringMatching(/^It cannot update itself: there is no such file\. Run the/),
  })
})

describe('hedgerow-gateway back', () => {
  /** Release 5 runs, and was confirmed; release 3 is the installed one. */
  const confirmed = async () => {
    writeVersion(join(root, 'updates/a'), { number: 5 })
    symlinkSync('a', join(root, 'updates/current'))
    symlinkSync('installed', join(root, 'updates/before'))
  }
  const installation = () => installationAt(join(root, 'updates/a'))

  it('has the agent that runs return, and only a person can ask for that release again', async () => {
    await confirmed()
    ask(5, 1, false)
    await start({ slot: 'a' })
    hub.wanted = undefined
    expect(await goBack(join(root, 'data'), installation())).toEqual({
      text: expect.stringContaining('Version 0.3.0 starts now.'),
      isDone: true,
    })
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    expect([target('current'), target('before'), target('failed')]).toEqual([undefined, undefined, 'a'])
    await start()
    await isShown({ failure: { version: '0.5.0', message: expect.stringMatching(/was left by a person/) } })
    ask(5, 2, false)
    await hasFailed(/only a person can ask for it again/)
    ask(5, 3)
    await until(() => expect(restart).toHaveBeenCalledTimes(2))
  })

  it('works while no agent runs', async () => {
    await confirmed()
    expect(await goBack(join(root, 'data'), installation())).toEqual({
      text: expect.stringContaining('Version 0.3.0 starts next.'),
      isDone: true,
    })
    expect([target('current'), target('failed')]).toEqual([undefined, 'a'])
    ask(5, 1, false)
    await start()
    await hasFailed(/only a person can ask for it again/)
    expect(await goBack(join(root, 'data'), installation())).toMatchObject({ isDone: false })
  })

  it('changes nothing without a version before, and programs of the device may not ask', async () => {
    await start({ deviceFile: 'sources: { api: { loopbackNeedsToken: false } }' })
    expect(await goBack(join(root, 'data'))).toEqual({
      text: 'There is no version before on this device.',
      isDone: false,
    })
    const { url } = (await findAgent(join(root, 'data')))!
    const answer = await fetch(`${url}/api/v1/version/back`, { method: 'POST' })
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: 'token_required' }])
    expect(restart).not.toHaveBeenCalled()
  })
})
