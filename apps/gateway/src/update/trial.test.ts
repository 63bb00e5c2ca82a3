/**
 * An agent on trial: a real agent, tunnel and fixture hub, with seconds for minutes. `launch.test.ts` has what the
 * launcher does with versions that crash and hang.
 */
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { makeRelease, PLATFORM, writeVersion } from '../../testing/signed-release.ts'
import { startGateway, type Gateway } from '../gateway.ts'
import type { TrialPace } from './trial.ts'
import type { Slot } from './versions.ts'

const release = makeRelease(5)
const PACE: TrialPace = {
  provenAfterMs: 600,
  givenUpAfterMs: 1_500,
  heardWithinMs: 60_000,
  recentMs: 500,
  lookEveryMs: 20,
}

let root: string
let hub: FixtureHub
let gateway: Gateway | undefined
const restart = vi.fn<() => void>()

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-trial-'))
  mkdirSync(join(root, 'updates'))
  mkdirSync(join(root, 'data'))
  writeVersion(join(root, 'current'), { number: 3 })
  writeVersion(join(root, 'updates/a'), { number: 5 })
  writeFileSync(join(root, 'root.pub'), `${release.rootKey}\n`)
  restart.mockClear()
  hub = await startFixtureHub()
  hub.downloads = release.files
})
afterEach(async () => {
  await gateway?.stop()
  await hub.stop()
  rmSync(root, { recursive: true })
})

const link = (name: string, to: string) => symlinkSync(to, join(root, 'updates', name))
const links = () =>
  Object.fromEntries(
    ['current', 'trial', 'proving', 'before', 'failed', 'why'].flatMap((name) => {
      const path = join(root, 'updates', name)
      // `installed` is the name of no file.
      const target = existsSync(path) || isLink(path) ? readlinkSync(path) : undefined
      return target === undefined ? [] : [[name, target]]
    }),
  )
function isLink(path: string): boolean {
  try {
    readlinkSync(path)
    return true
  } catch {
    return false
  }
}
const until = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 20 })
const told = () => hub.heartbeats.at(-1)?.update

async function start({ slot = 'a' as Slot | '', isApproved = true, pace = PACE } = {}): Promise<Gateway> {
  await gateway?.stop()
  gateway = await startGateway({
    name: 'Barn',
    dataDir: join(root, 'data'),
    host: '127.0.0.1',
    port: 0,
    hubUrl: hub.url,
    log: pino({ level: 'silent' }),
    pace: { retryFirstMs: 50, retryMaxMs: 200, rejectedRecheckMs: 100, approvedRecheckMs: 200 },
    installation: { root, slot, unit: join(root, 'no.service') },
    restart,
    trialPace: pace,
  })
  await until(() => expect(hub.registrations).not.toEqual([]))
  if (isApproved) hub.decide({ status: 'approved' })
  return gateway
}

describe('a version on trial', () => {
  beforeEach(() => link('trial', 'a'))

  it('is accepted by the first answer of the hub, and confirmed only after its time', async () => {
    await start({ pace: { ...PACE, provenAfterMs: 3_600_000 } })
    await until(() => expect(links()).toEqual({ current: 'a', proving: 'a', before: 'installed' }))
    await until(() =>
      expect(told()).toMatchObject({ state: 'trying', message: 'It has run for 0 of 60 min without a restart.' }),
    )
    expect(hub.heartbeats.at(-1)!.release).toEqual({ number: 5, platform: PLATFORM })
    await start()
    await until(() => expect(links()).toEqual({ current: 'a', before: 'installed' }))
    await until(() => expect(told()).toBeUndefined())
    expect(restart).not.toHaveBeenCalled()
  })

  it('is not accepted without an answer, however long it runs', async () => {
    await start({ isApproved: false, pace: { ...PACE, provenAfterMs: 0, givenUpAfterMs: 0 } })
    await until(() => expect(hub.statusRequests).toBeGreaterThan(1))
    expect(links()).toEqual({ trial: 'a' })
  })

  it('is not confirmed while the hub is silent, and gives itself up after a while', async () => {
    await start({ pace: { ...PACE, heardWithinMs: 500, provenAfterMs: 2_000, givenUpAfterMs: 3_000 } })
    await until(() => expect(links()).toMatchObject({ proving: 'a' }))
    hub.beBusy(1_000)
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    expect(links()).toEqual({ failed: 'a', why: 'did not work as the version before: the hub does not answer' })
  })
})

describe('what worked before an update', () => {
  const jpeg = readFileSync(join(import.meta.dirname, '../../../../scripts/demo-frames/fox.jpg'))
  let cameras: Server
  let file: object
  /** The cameras that give pictures. */
  const working = new Set<string>()
  beforeEach(async () => {
    cameras = createServer(({ url }, response) => {
      if (working.has(url!.slice(1))) response.writeHead(200, { 'content-type': 'image/jpeg' }).end(jpeg)
      else response.writeHead(503).end()
    })
    cameras.listen(0, '127.0.0.1')
    await once(cameras, 'listening')
    const { port } = cameras.address() as AddressInfo
    const names = ['yard', 'barn', 'dead']
    file = {
      cameras: Object.fromEntries(names.map((name) => [name, { url: `http://127.0.0.1:${port}/${name}` }])),
      sources: { eye: { cameras: names } },
    }
    writeFileSync(join(root, 'data/gateway.yaml'), JSON.stringify(file))
    working.clear()
    working.add('yard').add('barn')
  })
  afterEach(() => {
    cameras.closeAllConnections()
    cameras.close()
  })
  const online = () => hub.heartbeats.at(-1)!.cameras.flatMap(({ name, state }) => (state === 'online' ? [name] : []))

  const report = (running: Gateway, id: string) =>
    running.reportDetections([
      { id, camera: 'yard', label: 'fox', severity: 'detection', score: 0.9, startedAt: new Date().toISOString() },
    ])

  /** Those of this process guard the deterrents of its gateway. */
  function killSupervisors(): void {
    for (const thread of readdirSync('/proc/self/task'))
      for (const pid of readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean))
        if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(root, 'data'))) process.kill(+pid, 'SIGKILL')
  }

  /** The version before, which begins the update once its cameras work. */
  async function before(): Promise<void> {
    const running = await start({ slot: '' })
    // A program's own camera, which it reports once.
    running.setDeviceReport({ cameras: [{ name: 'of a program', state: 'online', fps: 1 }] })
    await until(() => expect(online()).toEqual(['barn', 'of a program', 'yard']))
    await until(() => expect(hub.heartbeats.at(-1)!.deterrents.map(({ state }) => state)).not.toContain('active'))
    hub.wanted = { number: 5, attempt: 1, byHand: true }
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    restart.mockClear()
  }

  it('must work again; what did not need not', async () => {
    await before()
    working.delete('barn')
    await start()
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    expect(links()).toEqual({
      failed: 'a',
      why: 'did not work as the version before: camera barn gives no picture',
    })
    await start({ slot: '' })
    const message =
      'Version 0.5.0: it did not work as the version before: camera barn gives no picture; version 0.3.0 runs again.'
    await until(() => expect(told()).toEqual({ number: 5, attempt: 1, state: 'failed', message }))
  })

  it('must go on working, and not only have worked once', async () => {
    const deterrents = { siren: { driver: 'command', on: ['true'], off: ['true'] } }
    writeFileSync(join(root, 'data/gateway.yaml'), JSON.stringify({ ...file, deterrents }))
    await before()
    const running = await start({
      pace: { ...PACE, provenAfterMs: 10_000, recentMs: 3_000, givenUpAfterMs: 3_600_000 },
    })
    await until(() => expect(online()).toEqual(['barn', 'yard']))
    await until(() => expect(hub.heartbeats.at(-1)!.deterrents).toMatchObject([{ state: 'ready' }]))
    await report(running, 'first')
    await until(() => expect(hub.detections).toHaveLength(1))
    working.delete('barn')
    hub.refuseDetections('hub_busy')
    await report(running, 'second')
    const killing = setInterval(killSupervisors, 200)
    onTestFinished(() => clearInterval(killing))
    const waitsFor = (missing: string[]) =>
      until(() => expect(told()).toMatchObject({ message: `It waits: ${missing.join(', ')}.` }))
    const camera = 'camera barn gives no picture'
    const guard = 'the process that guards the deterrents does not run'
    await waitsFor([camera, 'deterrent siren does not answer', guard])
    clearInterval(killing)
    await waitsFor([camera, 'no detection reaches the hub'])
    expect(links()).toEqual({ current: 'a', proving: 'a', before: 'installed' })
  })

  it('is waited for', async () => {
    await before()
    working.delete('barn')
    await start({ pace: { ...PACE, givenUpAfterMs: 3_600_000 } })
    await until(() => expect(told()).toMatchObject({ message: 'It waits: camera barn gives no picture.' }))
    working.add('barn')
    await until(() => expect(links()).toEqual({ current: 'a', before: 'installed' }))
  })

  it('is unknown after an update by an older agent: the new version is confirmed', async () => {
    writeFileSync(join(root, 'data/before-update.json'), '{"cameras":')
    working.clear()
    link('trial', 'a')
    await start()
    await until(() => expect(links()).toEqual({ current: 'a', before: 'installed' }))
  })
})

describe('a device that went back from a confirmed version', () => {
  const why = 'crashed 5 times within 10 minutes, the last time with exit code 1'
  const words = `it ${why}; version 0.3.0 runs again.`
  beforeEach(() => {
    const seen = { keys: 1, release: 5, createdAt: 0 }
    writeFileSync(join(root, 'data/update.json'), JSON.stringify({ seen, begun: { number: 5, attempt: 7 } }))
    link('failed', 'a')
    link('why', why)
  })

  it('says so to its hub, although that asks for nothing', async () => {
    await start({ slot: '' })
    await until(() =>
      expect(told()).toEqual({ number: 5, attempt: 7, state: 'failed', message: `Version 0.5.0: ${words}` }),
    )
    expect(hub.heartbeats.at(-1)!.problems).toEqual([`It went back from version 0.5.0. I${words.slice(1)}`])
    expect(links()).toEqual({})
    // Also after the next start.
    await start({ slot: '' })
    hub.heartbeats.length = 0
    await until(() => expect(told()).toMatchObject({ number: 5, attempt: 7, state: 'failed' }))
  })

  it('takes that version again when a person asks for it, and not when the hub does by itself', async () => {
    hub.wanted = { number: 5, attempt: 8, byHand: false }
    await start({ slot: '' })
    await until(() =>
      expect(told()).toMatchObject({
        attempt: 8,
        state: 'failed',
        message: 'This device went back from that version, so only a person can ask for it again.',
      }),
    )
    expect([restart.mock.calls, hub.downloaded]).toEqual([[], []])
    hub.wanted = { number: 5, attempt: 9, byHand: true }
    await until(() => expect(restart).toHaveBeenCalledTimes(1))
    expect(links()).toEqual({ trial: 'a' })
  })
})
