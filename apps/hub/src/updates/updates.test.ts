import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { putRelease } from '#testing/release.ts'
import { SETTLE_MS, SILENT_MS } from './rollout.ts'

describe.each(testEngines)('updates of agents on %s', (engine) => {
  let folder: string
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let manager: string

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hub-updates-'))
    putRelease(folder, { version: '0.7.0', number: 7 })
    hub = await startTestHub(engine, { downloadsDir: folder })
    api = createTestApi(hub)
    manager = await hub.signIn('manager')
  })
  afterEach(async () => {
    await hub.stop()
    rmSync(folder, { recursive: true })
  })

  const hear = (
    id: string,
    number: number | undefined,
    update?: contract.Heartbeat['update'],
    change: Partial<contract.Heartbeat> = {},
  ) =>
    hub.heartbeats.record(
      id,
      testHeartbeat(hub.clock.now(), {
        version: `0.${number ?? 1}.0`,
        uptimeSeconds: 3_600,
        ...(number !== undefined && { release: { number, platform: 'linux-arm64' } }),
        ...(update && { update }),
        ...change,
      }),
    )
  const wanted = async (id: string) => (await hub.updates.wanted(id))!
  const list = async () => (await api(contract.getVersions, { token: manager })).body as contract.Versions
  const ask = (...gatewayIds: string[]) => api(contract.updateGateways, { token: manager, body: { gatewayIds } })
  const activity = async () => {
    const { body } = await api(contract.recentActivity, { token: manager })
    return (body as { message: string }[]).map(({ message }) => message)
  }

  it('are asked for in the answer to a heartbeat, until the gateway runs the release', async () => {
    const { gatewayId, peer } = await joinedGateway(hub, { authorization: `Bearer ${manager}` })
    const beat = async (change: Partial<contract.Heartbeat>) => {
      const body = testHeartbeat(hub.clock.now(), change)
      return (await peer.post('/api/v1/gateway/heartbeat', body)).body as { update?: contract.WantedUpdate }
    }
    const release = { number: 6, platform: 'linux-arm64' }
    expect(await beat({ release })).not.toHaveProperty('update')
    expect((await ask(gatewayId)).status).toBe(200)
    const { update } = await beat({ release })
    expect(update).toEqual({ number: 7, attempt: expect.any(Number), byHand: true })
    const { attempt } = update!
    await beat({ release, update: { number: 7, attempt, state: 'fetching', message: '' } })
    expect((await list()).gateways).toMatchObject([
      { canUpdate: false, update: { state: 'asked', message: 'Fetches it' } },
    ])
    const next = { number: 7, platform: 'linux-arm64' }
    await beat({ release: next, update: { number: 7, attempt, state: 'trying', message: '' } })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update!.state).toBe('asked')
    // An older agent has confirmed the version by its first heartbeat, which is too soon.
    await beat({ release: next, version: '0.7.0' })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update!.state).toBe('asked')
    await beat({ release: next, version: '0.7.0', uptimeSeconds: 600 })
    await hub.updates.look()
    expect(await list()).toMatchObject({
      release: { version: '0.7.0', number: 7 },
      counts: [{ version: '0.7.0', gateways: 1 }],
      gateways: [{ version: '0.7.0', canUpdate: false, update: { state: 'done', by: 'the-manager' } }],
    })
    expect(await beat({ release: next })).not.toHaveProperty('update')
    expect((await activity())[0]).toBe('Gateway "Barn" runs version 0.7.0')
    await peer.stop()
  })

  it('that failed are reported with the reason, and a new request is another attempt', async () => {
    const id = await insertTestGateway(hub.db)
    hear(id, 6)
    await ask(id)
    const { attempt } = await wanted(id)
    // Its report about an earlier attempt does not count.
    hear(id, 6, { number: 7, attempt: attempt - 1, state: 'failed', message: 'Old.' })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update!.state).toBe('asked')
    hear(id, 6, { number: 7, attempt, state: 'failed', message: 'The disk is full.' })
    await hub.updates.look()
    const [{ update, canUpdate } = {}] = (await list()).gateways
    expect([update, canUpdate]).toMatchObject([{ state: 'failed', message: 'The disk is full.' }, true])
    expect(await hub.updates.wanted(id)).toBeUndefined()
    hub.clock.advance(-1_000)
    await ask(id)
    expect((await wanted(id)).attempt).toBeGreaterThan(attempt)
  })

  it('that are done fail when the gateway goes back later, and nobody but a person asks it again', async () => {
    const id = await insertTestGateway(hub.db, { name: 'Barn' })
    hear(id, 6)
    await ask(id)
    const { attempt } = await wanted(id)
    const restarts = { sinceBoot: 0, lastHour: 0, lastDay: 0, reason: '' }
    hear(id, 7, { number: 7, attempt, state: 'trying', message: '' }, { uptimeSeconds: 900, restarts })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update!.state).toBe('asked')
    // An agent that counts restarts says itself when its trial is over.
    hear(id, 7, undefined, { restarts })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update!.state).toBe('done')
    const message = 'Version 0.7.0: it crashed 5 times within 10 minutes; version 0.6.0 runs again.'
    hear(id, 6, { number: 7, attempt, state: 'failed', message })
    hub.clock.advance(60_000)
    await hub.updates.look()
    expect((await list()).gateways[0]).toMatchObject({ canUpdate: true, update: { state: 'failed', message } })
    expect((await activity())[0]).toContain(message)
    await api(contract.saveHubSettings, { token: await hub.signIn('admin'), body: { automaticUpdates: true } })
    hear(id, 6, { number: 7, attempt, state: 'failed', message })
    await hub.updates.look()
    expect(await hub.updates.wanted(id)).toBeUndefined()
    expect((await ask(id)).status).toBe(200)
    expect((await wanted(id)).attempt).toBeGreaterThan(attempt)
  })

  it('end when the hub hands out another release meanwhile', async () => {
    const id = await insertTestGateway(hub.db)
    hear(id, 6)
    await ask(id)
    putRelease(folder, { version: '0.8.0', number: 8 })
    await hub.updates.look()
    expect((await list()).gateways[0]!.update).toMatchObject({
      state: 'failed',
      message: 'The hub hands out 0.8.0 now.',
    })
  })

  it('are refused for gateways that cannot update, for strangers, and without a release', async () => {
    const [old, newest, own] = [
      await insertTestGateway(hub.db),
      await insertTestGateway(hub.db),
      await insertTestGateway(hub.db),
    ]
    hear(old!, undefined)
    hear(newest!, 7)
    hear(own!, 6)
    for (const id of [old!, newest!])
      expect((await ask(own!, id)).body).toMatchObject({ error: 'gateway_cannot_update' })
    // When one of several is refused, none is asked.
    expect(await hub.updates.wanted(own!)).toBeUndefined()
    expect((await ask('abcdefghijkl')).body).toMatchObject({ error: 'gateway_not_found' })
    const token = await hub.signIn('user')
    const byUser = await api(contract.updateGateways, { token, body: { gatewayIds: [own!] } })
    expect(byUser.body).toMatchObject({ error: 'role_required' })
    rmSync(join(folder, 'release.json'))
    expect((await ask(own!)).body).toMatchObject({ error: 'no_release' })
    expect(await list()).toMatchObject({ release: null, rollout: null })
  })

  it('roll out in rings, stop at a failure, and continue when a person says so', async () => {
    const ids: string[] = []
    for (let index = 0; index < 14; index++) ids.push(await insertTestGateway(hub.db))
    const hearAll = () => {
      for (const id of ids) hear(id, done.has(id) ? 7 : 6)
    }
    const done = new Set<string>()
    const asked = async () => {
      const open = await Promise.all(ids.map(async (id) => ((await hub.updates.wanted(id)) ? [id] : [])))
      return open.flat()
    }
    hearAll()
    await hub.updates.look()
    expect(await asked()).toEqual([])
    const admin = await hub.signIn('admin')
    const save = (body: object) => api(contract.editHubSettings, { token: admin, body })
    hub.clock.freeze()
    const hourFromNow = (hours: number) =>
      `${String(new Date(hub.clock.now() + hours * 3_600_000).getHours()).padStart(2, '0')}:00`
    expect((await save({ automaticUpdateHours: '5 o’clock' })).body).toMatchObject({ error: 'invalid_request' })
    await save({ automaticUpdates: true, automaticUpdateHours: `${hourFromNow(2)}-${hourFromNow(3)}` })
    await hub.updates.look()
    expect(await asked(), 'outside the hours').toEqual([])
    await save({ automaticUpdateHours: `${hourFromNow(0)}-${hourFromNow(3)}` })
    await hub.updates.look()
    const [first, ...others] = await asked()
    expect(others).toEqual([])
    expect((await wanted(first!)).byHand).toBe(false)
    done.add(first!)
    hearAll()
    await hub.updates.look()
    expect(await asked()).toEqual([])
    hub.clock.advance(SETTLE_MS)
    hearAll()
    await hub.updates.look()
    const ring = await asked()
    expect(ring).toHaveLength(9)
    const { attempt } = await wanted(ring[0]!)
    hear(ring[0]!, 6, { number: 7, attempt, state: 'failed', message: 'The disk is full.' })
    await hub.updates.look()
    expect(await asked()).toEqual([])
    const { name } = (await list()).gateways.find(({ id }) => id === ring[0])!
    const message = `Gateway "${name}" was not updated: The disk is full.`
    expect((await list()).rollout).toEqual({ state: 'stopped', message, held: [] })
    expect(await activity()).toContain(`Automatic updates to version 0.7.0 stopped: ${message}`)
    hearAll()
    await hub.updates.look()
    expect(await asked()).toEqual([])
    // A new release begins with the first ring; this one continues when a person says so.
    expect(await api(contract.resumeRollout, { token: manager })).toMatchObject({
      status: 200,
      body: { rollout: { state: 'running', message: expect.stringMatching(/./) } },
    })
    await hub.updates.look()
    expect(await asked()).toHaveLength(9)
    expect((await api(contract.resumeRollout, { token: manager })).body).toMatchObject({ error: 'rollout_not_stopped' })
  })

  const addSite = async (name: string) =>
    ((await api(contract.addSite, { token: manager, body: { name } })).body as contract.Site).id

  describe('of a fleet', () => {
    let admin: string
    let ids: string[]
    let sites: Record<string, string>
    const done = new Set<string>()
    const hearAll = (...without: string[]) => {
      for (const id of ids) if (!without.includes(id)) hear(id, done.has(id) ? 7 : 6)
    }
    const asked = async () => {
      const open = await Promise.all(ids.map(async (id) => ((await hub.updates.wanted(id)) ? [id] : [])))
      return open.flat()
    }
    const problems = async (token = manager) => (await api(contract.hubProblems, { token })).body
    const skip = (gatewayId: string) => api(contract.skipUpdate, { token: manager, body: { gatewayId } })
    const saveSite = (body: contract.SiteUpdates, token = admin) => api(contract.saveSiteUpdates, { token, body })
    const look = async () => {
      await hub.updates.look()
      return asked()
    }
    beforeEach(async () => {
      done.clear()
      ids = []
      sites = {}
      for (const [name, location] of [
        ['Barn', 'North'],
        ['Gate', 'North'],
        ['Hill', 'South'],
      ] as const)
        ids.push(await insertTestGateway(hub.db, { name, location }))
      admin = await hub.signIn('admin')
      for (const name of ['North', 'South']) sites[name] = await addSite(name)
      hub.clock.freeze()
      hearAll()
    })
    const automatic = (body: object) =>
      api(contract.editHubSettings, { token: admin, body: { automaticUpdates: true, ...body } })

    it('say that a silent gateway holds the others back, and go on when a person skips it', async () => {
      await automatic({})
      const [first = ''] = await look()
      hub.clock.advance(SILENT_MS)
      hearAll(first)
      expect(await look()).toEqual([first])
      const { name } = (await list()).gateways.find(({ id }) => id === first)!
      const message = `Gateway "${name}" was asked 30 min ago and has been silent for 30 min.`
      expect((await list()).rollout).toMatchObject({ state: 'running', held: [{ id: first, name, message }] })
      const told = `Automatic updates to version 0.7.0 wait: ${message}`
      expect(await problems()).toEqual(expect.arrayContaining([{ part: 'rollout', message: told }]))
      expect(await problems(await hub.signIn('user'))).toEqual([])
      // Told once.
      await hub.updates.look()
      expect((await activity()).filter((line) => line === told)).toHaveLength(1)

      const other = ids.find((id) => id !== first)!
      expect((await skip(other)).body).toMatchObject({ error: 'update_not_open' })
      expect((await skip('abcdefghijkl')).body).toMatchObject({ error: 'gateway_not_found' })
      expect((await skip(first)).status).toBe(200)
      expect(await problems()).not.toContainEqual(expect.objectContaining({ part: 'rollout' }))
      const [second = '', ...others] = await look()
      expect([others, second === first]).toEqual([[], false])
      // It is asked after all others, when it is back.
      done.add(second)
      hearAll(first)
      await hub.updates.look()
      hub.clock.advance(SETTLE_MS)
      hearAll()
      const [third = ''] = await look()
      expect([first, second]).not.toContain(third)
    })

    describe('before the next ring', () => {
      let first: string
      beforeEach(async () => {
        await automatic({})
        ;[first = ''] = await look()
        done.add(first)
        hearAll()
        await hub.updates.look()
        hub.clock.advance(SETTLE_MS)
      })
      const waitsFor = async (reason: RegExp) => {
        expect(await look()).toEqual([])
        expect((await list()).rollout!.message).toMatch(reason)
      }

      it('the last one must be heard from, with a long run and without restarts', async () => {
        hearAll(first)
        await waitsFor(/^Waits for gateway ".+", which has been silent for 30 min\.$/)
        hear(first, 7, undefined, { uptimeSeconds: 90 })
        await waitsFor(/which has run for only 1 min\.$/)
        const restarts = { sinceBoot: 82, lastHour: 12, lastDay: 82, reason: '' }
        hear(first, 7, undefined, { restarts })
        await waitsFor(/which restarted 12 times in the last hour\.$/)
        hear(first, 6)
        await waitsFor(/which runs version 0\.6\.0\.$/)
        hear(first, 7, undefined, { restarts: { ...restarts, lastHour: 2 } })
        expect(await look()).toHaveLength(2)
      })

      it('a person can skip it, once it holds the others back, and it counts again when it is well', async () => {
        hearAll(first)
        await hub.updates.look()
        expect((await skip(first)).body).toMatchObject({ error: 'update_not_open' })
        hub.clock.advance(SILENT_MS)
        // An hour has passed: the session has ended.
        const { id } = await hub.db
          .selectFrom('users')
          .select('id')
          .where('username', '=', 'the-manager')
          .executeTakeFirstOrThrow()
        manager = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
        hearAll(first)
        expect(await look()).toEqual([])
        const { name } = (await list()).gateways.find((gateway) => gateway.id === first)!
        const message = `Gateway "${name}" has been silent for 1 h.`
        expect((await list()).rollout).toMatchObject({ held: [{ id: first, name, message }] })
        expect((await skip(first)).status).toBe(200)
        hub.clock.advance(1_000)
        expect(await look()).toHaveLength(1)
        expect((await list()).gateways.find(({ id }) => id === first)!.update!.state).toBe('skipped')
        hear(first, 7, undefined, { uptimeSeconds: 90 })
        await hub.updates.look()
        expect((await list()).gateways.find(({ id }) => id === first)!.update!.state).toBe('skipped')
        hear(first, 7)
        await hub.updates.look()
        expect((await list()).gateways.find(({ id }) => id === first)!.update!.state).toBe('done')
      })

      it('a crash loop of it stops them', async () => {
        const { attempt } = (await hub.db
          .selectFrom('gateway_updates')
          .select('attempt')
          .where('gateway_id', '=', first)
          .executeTakeFirst())!
        hearAll(first)
        hear(first, 6, { number: 7, attempt, state: 'failed', message: 'It crashed 5 times within 10 minutes.' })
        expect(await look()).toEqual([])
        expect((await list()).rollout).toMatchObject({
          state: 'stopped',
          message: expect.stringMatching(/was not updated: It crashed 5 times within 10 minutes\.$/),
        })
      })
    })

    it('stop when a skipped gateway reports that the version failed', async () => {
      await automatic({})
      const [first = ''] = await look()
      const { attempt } = await wanted(first)
      await skip(first)
      hear(first, 6, { number: 7, attempt, state: 'failed', message: 'It had no tunnel.' })
      expect(await look()).toEqual([])
      const { name } = (await list()).gateways.find(({ id }) => id === first)!
      const message = `Gateway "${name}" was not updated: It had no tunnel.`
      expect((await list()).rollout).toMatchObject({ state: 'stopped', message })
      expect(await problems()).toContainEqual({
        part: 'rollout',
        message: `Automatic updates to version 0.7.0 stopped: ${message}`,
      })
    })

    it('stop and go on when a person says so', async () => {
      const stop = () => api(contract.stopRollout, { token: manager })
      expect((await stop()).body).toMatchObject({ error: 'rollout_not_running' })
      await automatic({})
      const before = await look()
      expect(before).toHaveLength(1)
      expect((await stop()).status).toBe(200)
      expect(await look()).toEqual([])
      expect((await list()).rollout).toMatchObject({ state: 'stopped', message: 'the-manager stopped them.' })
      expect((await activity())[0]).toBe('Automatic updates to version 0.7.0 were stopped by the-manager')
      expect((await stop()).body).toMatchObject({ error: 'rollout_not_running' })
      expect((await api(contract.resumeRollout, { token: manager })).status).toBe(200)
      expect(await look()).toEqual(before)
    })

    it('follow the choice and the hours of a site', async () => {
      const clockTime = (hours: number) =>
        `${String(new Date(hub.clock.now() + hours * 3_600_000).getHours()).padStart(2, '0')}:00`
      const [now, later] = [`${clockTime(0)}-${clockTime(2)}`, `${clockTime(2)}-${clockTime(3)}`]
      const [north, hill] = [ids.slice(0, 2), ids[2]!]
      expect((await list()).rollout).toBeNull()
      // On at one site, off at the hub.
      expect((await saveSite({ site: 'South', automatic: true, hours: later })).status).toBe(200)
      expect(await look()).toEqual([])
      await saveSite({ site: 'South', automatic: true, hours: now })
      expect(await look()).toEqual([hill])
      done.add(hill)
      hearAll()
      await hub.updates.look()
      hub.clock.advance(SETTLE_MS)
      hearAll()
      expect(await look()).toEqual([])
      expect((await list()).rollout?.message).toBe('Every gateway that can get it has it.')
      // On at the hub, off at one site; then in hours of its own.
      await saveSite({ site: 'North', automatic: false, hours: null })
      await automatic({})
      expect(await look()).toEqual([])
      await saveSite({ site: 'North', automatic: null, hours: later })
      expect(await look()).toEqual([])
      expect((await list()).rollout?.message).toBe('Waits for the hours of automatic updates.')
      await automatic({ automaticUpdateHours: later })
      await saveSite({ site: 'North', automatic: null, hours: '' })
      expect(await look()).toEqual(north)
      expect((await list()).sites).toEqual([
        { site: sites['North'], name: 'North', automatic: null, hours: '' },
        { site: sites['South'], name: 'South', automatic: true, hours: now },
      ])
    })

    it('of a site are changed by administrators', async () => {
      const own = { site: sites['South']!, automatic: false, hours: null }
      expect((await saveSite(own, manager)).body).toMatchObject({ error: 'role_required' })
      expect((await saveSite({ ...own, site: 'Soth' })).body).toMatchObject({ error: 'site_not_found' })
      expect((await saveSite({ ...own, hours: 'at night' })).body).toMatchObject({ error: 'invalid_request' })
      expect((await saveSite(own)).body).toMatchObject({ sites: [{ ...own, name: 'South' }] })
      expect((await saveSite({ ...own, automatic: null })).body).toMatchObject({ sites: [] })
    })
  })

  it('are listed in pages, and for a site', async () => {
    for (const [index, location] of ['Barn', 'Barn', 'Hill'].entries())
      await insertTestGateway(hub.db, { name: `G${index}`, location })
    const get = async (query: string) =>
      hub.app.inject({ url: `/api/v1/hub/versions${query}`, headers: { authorization: `Bearer ${manager}` } })
    const namesOf = (answer: Awaited<ReturnType<typeof get>>) =>
      answer.json<contract.Versions>().gateways.map(({ name, location }) => `${name} ${location}`)
    const first = await get('?limit=2')
    expect(namesOf(first)).toEqual(['G0 Barn', 'G1 Barn'])
    const second = await get(`?limit=2&cursor=${String(first.headers['x-next-cursor'])}`)
    expect(namesOf(second)).toEqual(['G2 Hill'])
    expect(second.headers['x-next-cursor']).toBeUndefined()
    const ofSite = await get('?q=barn')
    expect(namesOf(ofSite)).toEqual(['G0 Barn', 'G1 Barn'])
    const [, , hill] = (await hub.db.selectFrom('gateways').select('id').orderBy('name').execute()).map(({ id }) => id)
    await hub.db.updateTable('gateways').set({ tags: '["north"]' }).where('id', '=', hill!).execute()
    expect(namesOf(await get('?q=nort'))).toEqual(['G2 Hill'])
    const body = { ids: [hill!], siteId: await addSite('Orchard') }
    await api(contract.assignSite, { token: manager, body })
    expect(namesOf(await get('?q=orch'))).toEqual(['G2 Hill'])
    expect(ofSite.json<contract.Versions>().counts).toEqual([{ version: '', gateways: 3 }])
  })
})
