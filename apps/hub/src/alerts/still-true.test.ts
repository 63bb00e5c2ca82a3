import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import fileSystem from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { issueAuthority, issueServerCertificate } from '../certificates/issue.ts'
import { HUB, record } from '../facts/facts.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WAIT = { timeout: 30_000 }

const disk = { bsize: 1_000, blocks: 1_000_000, bavail: 900_000 }

beforeAll(() => {
  vi.spyOn(fileSystem, 'statfs').mockImplementation(async () => disk as never)
  syncBuiltinESMExports()
})
afterAll(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

describe.each(testEngines)('warnings about the hub itself, on %s', (engine) => {
  let folder: string
  let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
  let hub: TestHub
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    folder = mkdtempSync(join(tmpdir(), 'hub-warnings-'))
    await putCertificate(10)
    receiver = await startWebhookReceiver()
    hub = await startTestHub(engine, {
      tlsFiles: { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') },
      notifications: { webhook: { url: receiver.url, secret: 'a secret for webhooks' } },
    })
    hub.clock.freeze()
    await hub.app.ready()
  })
  afterEach(async () => {
    disk.bavail = 900_000
    await hub.stop()
    vi.useRealTimers()
    receiver.stop()
    rmSync(folder, { recursive: true })
  })

  /** The operator's own, which expires that many days from now. */
  async function putCertificate(days: number): Promise<void> {
    const issuedAt = Date.now() - (397 - days) * DAY_MS
    const own = await issueServerCertificate(await issueAuthority(issuedAt), ['portal.example.net'], issuedAt)
    writeFileSync(join(folder, 'tls.crt'), own.certificate)
    writeFileSync(join(folder, 'tls.key'), own.privateKey)
  }
  const pass = async (ms: number) => {
    hub.clock.advance(ms)
    await hub.alertSteps.look()
    await hub.notifications.deliver()
  }
  const titles = () => receiver.received.map(({ body }) => (JSON.parse(body) as { title: string }).title)
  const waiting = async () =>
    (await hub.db.selectFrom('notifications').select('kind').where('state', '=', 'waiting').execute()).map(
      ({ kind }) => kind,
    )

  it('of the disk are sent once an hour while there is no room, and not at all once there is again', async () => {
    /** The hub looks at its disk every few seconds. */
    const look = () => vi.advanceTimersByTime(5_000)
    const lose = async () => {
      disk.bavail = 10
      const told = async () => {
        look()
        return waiting()
      }
      await vi.waitFor(async () => expect(await told()).toEqual(['storage.low']), WAIT)
    }
    const makeRoom = async () => {
      disk.bavail = 900_000
      const isReady = async () => {
        look()
        return (await hub.app.inject('/readyz')).statusCode
      }
      await vi.waitFor(async () => expect(await isReady()).toBe(200), WAIT)
    }
    await lose()
    await pass(11_000)
    expect(titles()).toEqual(["Your hub's disk is nearly full"])
    await record(hub.db, { kind: 'storage.low', at: hub.clock.now(), actor: HUB, data: { state: 'low', message: '' } })
    expect(await waiting(), 'the second one in an hour').toEqual([])

    await makeRoom()
    hub.clock.advance(HOUR_MS)
    await lose()
    await makeRoom()
    await pass(HOUR_MS)
    expect(titles()).toHaveLength(1)
    expect(await waiting()).toEqual([])
  })

  it('of a certificate are sent once, and not at all once it was replaced', async () => {
    const tell = async () => {
      const { id, name, expiresAt } = hub.certificates.list().find((one) => one.id === 'configured-tls')!
      const about = { at: hub.clock.now(), actor: HUB, target: id, data: { id, name, expiresAt } }
      await record(hub.db, { kind: 'certificate.expiring', ...about })
    }
    await tell()
    await tell()
    await pass(11_000)
    await tell()
    await pass(HOUR_MS)
    expect(titles()).toEqual(['Configured TLS certificate expires soon'])

    await putCertificate(5)
    hub.certificates.reloadFiles()
    await tell()
    expect(await waiting()).toEqual(['certificate.expiring'])
    await putCertificate(300)
    hub.certificates.reloadFiles()
    await pass(HOUR_MS)
    expect(titles()).toHaveLength(1)
    expect(await waiting()).toEqual([])
  })
})
