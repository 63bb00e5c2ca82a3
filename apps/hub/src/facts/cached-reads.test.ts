/**
 * Changes everything once: every call of the contract, and what else the hub does by itself. After each change, all
 * that the hub keeps in memory is compared with a new read, while no time passes: so each cache names the facts that
 * make it stale.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as contract from '@hedgerow/contract'
import { keyOf, calls } from '@hedgerow/contract/calls'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestApi, type Answer } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { testDetection } from '#testing/detection.ts'
import { createTestDevice } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { putRelease } from '#testing/release.ts'
import { PASSWORD, requestOf } from '#testing/requests.ts'
import { makeThings, removeThings, type Things } from '#testing/things.ts'
import { scopeOf } from '../access/scope.ts'
import { inTransaction } from '../database/transaction.ts'
import { storeDetections } from '../detections/detections.ts'
import { createStatuses } from '../fleet/fleet.ts'
import { createPresence } from '../fleet/presence.ts'
import { createFleet } from '../fleet/snapshot.ts'
import { restoreVpnSettings } from '../settings/save.ts'
import { factsOf } from './facts.ts'
import type { CachedRead } from './cached-read.ts'

/** So many gateways that the list of them is kept, and so many incidents that their counts are. */
const GATEWAYS = 1_000
const INCIDENTS = 2_100
/** Older than any read that has an age. */
const AGE_MS = 10_000

describe.each(testEngines)('what is kept on %s', (engine) => {
  let folder: string
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let owner: string
  let admin: string
  let own: Things
  let reads: CachedRead[]
  let nowMs = performance.now()

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hub-kept-'))
    putRelease(folder, { version: '0.7.0', number: 7 })
    hub = await startTestHub(engine, { downloadsDir: folder })
    await hub.app.ready()
    hub.clock.freeze()
    await hub.db.deleteFrom('alert_rules').execute()
    api = createTestApi(hub)
    owner = await hub.addUser('rosa', 'user', PASSWORD)
    admin = await hub.addUser('ada', 'admin', PASSWORD)
    await inTransaction(hub.db, async (transaction) => {
      for (let index = 0; index < GATEWAYS; index++) await insertTestGateway(transaction)
    })
    const incident = {
      gateway_id: await insertTestGateway(hub.db),
      label: 'boar',
      reported_label: 'boar',
      severity: 'alert' as const,
      started_at: 1,
      last_at: 1,
      detections: 1,
      camera: 'gate',
      score: 1,
      fired: 0,
    }
    for (let start = 0; start < INCIDENTS; start += 700) {
      const rows = Array.from({ length: 700 }, (_, index) => ({ ...incident, id: `boar-${start + index}` }))
      await hub.db.insertInto('incidents').values(rows).execute()
    }
    own = await make()
    await settings({ maxGateways: 2 * GATEWAYS })
    reads = factsOf(hub.db)
      .followers()
      .filter((follower): follower is CachedRead => 'cached' in follower)
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  }, 60_000)
  afterAll(async () => {
    vi.restoreAllMocks()
    await hub.stop()
    rmSync(folder, { recursive: true })
  })

  const tokenOf = (id: string) => hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
  const make = async () => makeThings(hub, { word: 'Quince', owner, admin: await tokenOf(admin), reader: owner })
  const signals = () => ({
    clock: hub.clock.now,
    heartbeats: hub.heartbeats,
    handshakes: () => new Map(),
    endpointOf: () => undefined,
    isHealthy: () => undefined,
    refusals: () => undefined,
    vpnPort: () => '',
  })

  let addresses: string[] = []
  /** What each read is asked; the others have no arguments. */
  const questions: Record<string, () => unknown[][]> = {
    'known-addresses': () => addresses.map((address) => [address]),
    'incident-counts': () => [[scopeOf({ userId: admin, role: 'admin' }), {}]],
  }
  /** What no fact tells: heartbeats and handshakes write it, and who reads the fleet takes it from them. */
  const untold = { version: null, endpoint_address: null, last_handshake_at: null }
  const toldOf = (answer: unknown) => (answer as object[]).map((gateway) => ({ ...gateway, ...untold }))
  const ask = async (how: 'cached' | 'fresh') =>
    Promise.all(
      reads.map(({ name, [how]: read }) =>
        Promise.allSettled(
          (questions[name]?.() ?? [[]]).map(async (question) => {
            const answer = await read(...question)
            return name === 'fleet' ? toldOf(answer) : answer
          }),
        ),
      ),
    )

  async function stale(): Promise<string[]> {
    const [cached, fresh] = [await ask('cached'), await ask('fresh')]
    return reads.flatMap(({ name }, index) => (isDeepStrictEqual(cached[index], fresh[index]) ? [] : [name]))
  }

  async function change(what: string, act: () => Promise<unknown>, later: string[] = []): Promise<void> {
    const newest = hub.db.selectFrom('gateways').select('address').orderBy('created_at', 'desc').limit(3)
    addresses = (await newest.execute()).map(({ address }) => address)
    // People's writing calls are limited.
    hub.clock.advance(1_000)
    nowMs += AGE_MS
    await ask('cached')
    await act()
    // The hub's own look at the fleet shows in its memory just before its fact.
    await expect.poll(stale, { message: what, timeout: 5_000 }).toEqual(later)
  }

  /** After rows were written past the hub. */
  const forget = async () => {
    for (const read of reads) await read.afterCommit([])
  }

  const as = async (userId: string) => ({ token: await tokenOf(userId) })
  const made = ({ status, body }: Answer): unknown => {
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return body
  }

  const settings = async (body: object) => made(await api(contract.editHubSettings, { ...(await as(admin)), body }))

  test('is as new as the last call', { timeout: 120_000 }, async () => {
    let done = 0
    for (const [name, call] of Object.entries(calls)) {
      if (call.method === 'GET') continue
      const token = await tokenOf(admin)
      let status = 0
      await change(keyOf(call), async () => {
        ;({ status } = await api(call, { token, ...requestOf(name, call, own) } as object))
        // What a gateway leaves behind goes a little later.
        if (name === 'deleteGateway') await hub.retention.purge()
      })
      if (status >= 300) continue
      done++
      await removeThings(hub, own)
      own = await make()
      await forget()
    }
    expect(done).toBeGreaterThan(20)
  })

  test('is as new as what people, gateways and the hub have done', { timeout: 60_000 }, async () => {
    await settings({ maxGateways: 2 * GATEWAYS })
    const person = { email: 'new@example.org', firstName: 'A', lastName: 'B', username: 'new', password: PASSWORD }
    const invited = await api(contract.createUserInvitation, { ...(await as(admin)), body: {} })
    const inviteCode = (made(invited) as { code: string }).code
    await change('a registration', async () =>
      made(await api(contract.registerAccount, { body: { ...person, inviteCode } })),
    )
    const { id } = await hub.db.selectFrom('users').select('id').where('username', '=', 'new').executeTakeFirstOrThrow()
    const editUser = async (body: object) =>
      made(await api(contract.editUser, { ...(await as(admin)), params: { id }, body }))
    // The first address of an administrator is the hub's.
    await hub.db.updateTable('users').set({ email: '' }).where('id', '!=', id).execute()
    await forget()
    await change('an administrator more', () => editUser({ role: 'admin' }))
    await change('an administrator less', () => editUser({ active: false }))
    await change('an administrator again', () => editUser({ active: true }))

    const about = { now: hub.clock.now, name: 'Gate' }
    const device = createTestDevice(hub.app, about)
    const { registrationId } = (await device.register()).body
    const approve = async (request: string) =>
      made(await api(contract.approveRegistration, { ...(await as(admin)), params: { registrationId: request } }))
    const claim = async (deviceToken: string) =>
      made(await api(contract.claimGateway, { ...(await as(id)), body: { deviceToken } }))
    await change('an approval', () => approve(registrationId))
    const { gateway_id: gateway } = await hub.db
      .selectFrom('registrations')
      .select('gateway_id')
      .where('id', '=', registrationId)
      .executeTakeFirstOrThrow()
    const renewed = createTestDevice(hub.app, { ...about, identity: device.identity, deviceToken: device.deviceToken })
    const { registrationId: renewal } = (await renewed.register()).body
    await change('new keys', () => approve(renewal))
    await change('a claim', () => claim(device.deviceToken))
    await change('a new name and place', async () =>
      made(
        await api(contract.editGateway, {
          ...(await as(id)),
          params: { id: gateway! },
          body: { name: 'Hut', location: 'Hill' },
        }),
      ),
    )
    const site = await api(contract.addSite, { ...(await as(admin)), body: { name: 'Meadow' } })
    await change('a site', async () =>
      made(
        await api(contract.editSite, {
          ...(await as(admin)),
          params: { id: (site.body as contract.Site).id },
          body: { timeZone: 'Asia/Tokyo' },
        }),
      ),
    )
    const description = async () =>
      made(
        await api(contract.editGateway, { ...(await as(id)), params: { id: gateway! }, body: { description: 'Wet' } }),
      )
    await change('a description', description)
    const undo = async () =>
      made(await api(contract.undoReviews, { ...(await as(owner)), body: { reviewIds: [own.ids.review] } }))
    await change('a review less', undo)
    await change('the end of a person who has a gateway', async () =>
      made(await api(contract.deleteUser, { ...(await as(admin)), params: { id } })),
    )

    const detections = [testDetection(hub, 'seen')]
    await change('detections', () => storeDetections(hub.db, gateway!, detections, hub.clock.now()), [
      'incident-counts',
    ])
    const statuses = createStatuses(createFleet(hub.db), signals())
    const watch = createPresence({ db: hub.db, clock: hub.clock.now, statuses, log: pino({ level: 'silent' }) })
    await watch.look()
    const release = { number: 6, platform: 'linux-arm64' }
    const hear = (of: string, fields: Partial<contract.Heartbeat> = {}) =>
      hub.heartbeats.record(of, testHeartbeat(hub.clock.now(), { release, uptimeSeconds: 3_600, ...fields }))
    await change('a status', async () => {
      hear(gateway!)
      await watch.look()
    })
    const vpn = { enableVpn: true, vpnNetwork: '10.100.0.0/16' }
    await change('restored settings', () => restoreVpnSettings(hub.db, { ...vpn, enableVpn: false }, hub.clock.now()))

    const update = async () =>
      made(await api(contract.updateGateways, { ...(await as(admin)), body: { gatewayIds: [gateway!] } }))
    await change('an update', update)
    const { attempt } = (await hub.updates.wanted(gateway!))!
    hear(gateway!, { update: { number: 7, attempt, state: 'failed', message: 'The disk is full.' } })
    await change('the end of an update', hub.updates.look)
    for (let count = 0; count < 2; count++) hear(await insertTestGateway(hub.db))
    await forget()
    await settings({ automaticUpdates: true })
    await change('an automatic update', hub.updates.look)
    const asked = hub.db.selectFrom('gateway_updates').select('gateway_id').where('state', '=', 'asked')
    const { gateway_id: gatewayId } = await asked.executeTakeFirstOrThrow()
    await change('a skipped update', async () =>
      made(await api(contract.skipUpdate, { ...(await as(admin)), body: { gatewayId } })),
    )
    await change('another automatic update', hub.updates.look)
    await change('no automatic updates', async () => made(await api(contract.stopRollout, await as(admin))))
    // What was recorded here, with the calls before.
    const recorded = await hub.db.selectFrom('facts').select('kind').distinct().execute()
    const kinds = new Set(reads.flatMap((read) => read.kinds))
    expect([...kinds.difference(new Set(recorded.map(({ kind }) => kind)))]).toEqual([])
  })

  test('stays as it was when nothing tells of a change', async () => {
    const secret = { name: 'Secret', name_key: 'secret', address: 'secret' }
    const act = async () => {
      await hub.db.updateTable('gateways').set(secret).where('address', '=', addresses[0]!).execute()
      await hub.db.updateTable('incidents').set({ label: 'deer' }).execute()
      await hub.db
        .updateTable('users')
        .set({ email: 'secret@example.org', active: 1 })
        .where('role', '=', 'admin')
        .execute()
      await hub.db.updateTable('gateway_updates').set({ state: 'asked' }).execute()
      await hub.db.deleteFrom('settings').execute()
    }
    const all = reads.map(({ name }) => name)
    expect(all).toHaveLength(7)
    // Made from the fleet in memory, which does not know.
    await change(
      'a secret change',
      act,
      all.filter((name) => name !== 'fleet-list-cache'),
    )
  })
})
