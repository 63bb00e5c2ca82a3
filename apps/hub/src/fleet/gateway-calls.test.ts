import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { GATEWAY_FEATURES, type Gateway } from '@hedgerow/contract'
import {
  answerBytes,
  generateIdentitySeed,
  HUB_SIGNATURE_HEADER,
  IDENTITY_HEADER,
  identityOfSeed,
  NONCE_HEADER,
  requestBytes,
  SIGNATURE_HEADER,
  TIME_HEADER,
  verifySignature,
  type Identity,
} from '@hedgerow/enrolment'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, newKeys } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { firstAgentDetections, firstAgentHeartbeat } from '#testing/first-agent.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'

const HEARTBEAT = '/api/v1/gateway/heartbeat'
const DETECTIONS = '/api/v1/gateway/detections'
const REVIEWS = '/api/v1/gateway/reviews'
const PATIENT = { timeout: 20_000 }

describe.each(testEngines)('calls of a gateway outside its tunnel on %s', (engine) => {
  let hub: TestHub
  let identity: Identity
  let gatewayId: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    identity = identityOfSeed(generateIdentitySeed())
    gatewayId = await insertTestGateway(hub.db, { identity_public_key: identity.publicKey })
  })
  afterEach(() => hub.stop())

  const signed = (
    url: string,
    content: object,
    change: { from?: Identity; signer?: Identity; timeMs?: number; target?: string } = {},
  ) => {
    const { from = identity } = change
    const payload = JSON.stringify(content)
    const time = String(Math.floor(change.timeMs ?? hub.clock.now()))
    const nonce = randomBytes(32).toString('base64')
    const body = Buffer.from(payload)
    const bytes = requestBytes({ method: 'POST', target: change.target ?? url, time, nonce, body })
    const headers = {
      'content-type': 'application/json',
      [IDENTITY_HEADER]: from.publicKey,
      [TIME_HEADER]: time,
      [NONCE_HEADER]: nonce,
      [SIGNATURE_HEADER]: (change.signer ?? from).sign(bytes),
    }
    return { method: 'POST' as const, url, headers, payload }
  }
  const beat = () => testHeartbeat(hub.clock.now())
  const list = async (): Promise<Gateway[]> => {
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    return (await hub.app.inject({ method: 'GET', url: '/api/v1/hub/gateways', headers })).json()
  }

  it('is accepted with the identity’s signature, and the gateway gets a warning that names the tunnel', async () => {
    const sent = signed(HEARTBEAT, beat())
    const response = await hub.app.inject(sent)
    expect([response.statusCode, response.json().settings]).toEqual([200, { heartbeatIntervalSeconds: 30 }])
    expect((await list())[0]).toMatchObject({
      id: gatewayId,
      status: 'warning',
      statusReason: expect.stringMatching(/^heartbeat \d+ s ago, no VPN handshake yet$/),
      version: '2.0.0',
    })
    const { hubIdentityPublicKey } = await createTestDevice(hub.app, { now: hub.clock.now }).challenge()
    const bytes = answerBytes(sent.headers[NONCE_HEADER], Buffer.from(response.body))
    expect(verifySignature(hubIdentityPublicKey, bytes, String(response.headers[HUB_SIGNATURE_HEADER]))).toBe(true)
    hub.clock.advance(91_000)
    const [silent] = await list()
    expect(silent).toMatchObject({ status: 'offline', troubleSince: silent?.lastSeen })
  })

  it('that tell of one problem more make its trouble the newest, in the list and in activity', async () => {
    await hub.stop()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    hub = await startTestHub(engine)
    const [barn, ford] = [generateIdentitySeed(), generateIdentitySeed()].map(identityOfSeed)
    await insertTestGateway(hub.db, { name: 'Barn', identity_public_key: barn!.publicKey })
    await insertTestGateway(hub.db, { name: 'Ford', identity_public_key: ford!.publicKey })
    const tell = async (from: Identity, ...problems: string[]) => {
      hub.clock.advance(30_000)
      const sent = signed(HEARTBEAT, { ...beat(), problems }, { from })
      expect((await hub.app.inject(sent)).statusCode).toBe(200)
    }
    const newestFirst = async () => {
      vi.advanceTimersByTime(5_000)
      const troubled = (await list()).filter(({ troubleSince }) => troubleSince !== null)
      return troubled.toSorted((a, b) => b.troubleSince!.localeCompare(a.troubleSince!)).map(({ name }) => name)
    }
    await tell(barn!)
    await expect.poll(newestFirst, PATIENT).toEqual(['Barn'])
    await tell(ford!, 'There is no detector')
    await expect.poll(newestFirst, PATIENT).toEqual(['Ford', 'Barn'])
    await tell(barn!, 'There is no detector')
    await expect.poll(newestFirst, PATIENT).toEqual(['Barn', 'Ford'])
    await tell(ford!, 'The lens is dirty')
    await expect.poll(newestFirst, PATIENT).toEqual(['Ford', 'Barn'])
    const warnings = async () => {
      const rows = await hub.db.selectFrom('activity').select(['message', 'type']).orderBy('id').execute()
      return rows.filter(({ type }) => type === 'warning').map(({ message }) => message)
    }
    await expect
      .poll(warnings, PATIENT)
      .toEqual([
        expect.stringMatching(/^Gateway "Barn" has a warning: .* no VPN handshake yet$/),
        expect.stringMatching(/^Gateway "Ford" has a warning: .* There is no detector/),
        expect.stringMatching(/^Gateway "Barn" has a warning: .* There is no detector/),
        expect.stringMatching(/^Gateway "Ford" has a warning: .* The lens is dirty/),
      ])
  })

  it('a minute after approval without a handshake is blocked UDP: the page says what to open', async () => {
    hub.clock.freeze()
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const handshake = async () => {
      const answer = await hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}`, headers })
      return answer.json().ladder.find(({ step }: { step: string }) => step === 'handshake')
    }
    await hub.app.inject(signed(HEARTBEAT, beat()))
    expect((await handshake()).state).toBe('waiting')
    expect((await list())[0]?.blockedUdp).toBeNull()
    hub.clock.advance(61_000)
    expect((await hub.app.inject(signed(HEARTBEAT, beat()))).statusCode).toBe(200)
    expect(await handshake()).toMatchObject({
      state: 'failed',
      message: expect.stringContaining(`reach port ${hub.vpn.port} of `),
    })
    const [listed] = await list()
    const opened = listed?.blockedUdp
    expect(opened).toMatch(new RegExp(`^port ${hub.vpn.port} of \\S+$`))
    expect(listed).toMatchObject({
      status: 'warning',
      statusReason: `heartbeat 0 s ago, no VPN handshake yet, UDP to ${opened} seems to be blocked`,
    })
    await hub.db
      .updateTable('gateways')
      .set({ last_handshake_at: hub.clock.now() - 200_000 })
      .execute()
    expect((await handshake()).state, 'a tunnel that was up once').toBe('failed')
  })

  it('may come from an agent of the first version, with fewer fields', async () => {
    expect((await hub.app.inject(signed(HEARTBEAT, firstAgentHeartbeat))).statusCode).toBe(200)
    expect((await hub.app.inject(signed(DETECTIONS, firstAgentDetections))).json()).toEqual({ accepted: 1 })
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const detail = await hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}`, headers })
    const { bootId: _bootId, sequence: _sequence, ...told } = firstAgentHeartbeat
    expect(detail.json().heartbeat).toEqual({ ...told, receivedAt: expect.any(String) })
    const list = await hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}/detections`, headers })
    expect(list.json()).toMatchObject(firstAgentDetections.detections)
  })

  it('is answered with the features that the hub takes, and they are taken', async () => {
    const answer = await hub.app.inject(signed(HEARTBEAT, beat()))
    expect(answer.json().features).toEqual(GATEWAY_FEATURES)
    const details = {
      armed: true,
      learning: { state: 'waiting', lastRunAt: null, message: '12 more reviews are needed' },
      queue: { waiting: 3, lost: 1 },
      deterrents: [
        { name: 'siren', state: 'active', driver: 'mqtt', until: 1_800_000_000_000, secondsLeftThisHour: 90 },
      ],
    }
    expect((await hub.app.inject(signed(HEARTBEAT, { ...beat(), ...details }))).statusCode).toBe(200)
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const detail = await hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}`, headers })
    expect(detail.json().heartbeat).toMatchObject(details)
  })

  it('is stored before it is answered, as are detections', async () => {
    const startedAt = new Date(hub.clock.now()).toISOString()
    const detection = { id: 'd1', camera: 'Gate', label: 'person', severity: 'alert', score: 0.9, startedAt }
    const response = await hub.app.inject(signed(DETECTIONS, { detections: [detection] }))
    expect(response.json()).toEqual({ accepted: 1 })
    expect(await hub.db.selectFrom('detections').select(['gateway_id', 'id']).execute()).toEqual([
      { gateway_id: gatewayId, id: 'd1' },
    ])
  })

  it('holds up to 500 detections, which may be sent again; more are refused whole', async () => {
    const startedAt = new Date(hub.clock.now()).toISOString()
    const detections = (count: number) =>
      Array.from({ length: count }, (_, i) => ({
        id: `d${i}`,
        camera: 'Gate',
        label: 'person',
        severity: 'alert' as const,
        score: 0.9,
        startedAt,
      }))
    const report = (count: number) => hub.app.inject(signed(DETECTIONS, { detections: detections(count) }))
    const stored = async () => (await hub.db.selectFrom('detections').select('id').execute()).length
    const tooMany = await report(501)
    expect([tooMany.statusCode, tooMany.json().error]).toEqual([400, 'invalid_request'])
    expect(tooMany.json().fieldErrors).toHaveProperty('detections')
    expect(await stored()).toBe(0)
    for (let i = 0; i < 2; i++) expect((await report(500)).json()).toEqual({ accepted: 500 })
    expect(await stored()).toBe(500)
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const stats = await hub.app.inject({ url: '/api/v1/hub/stats', headers })
    expect(stats.json().threats, 'all are one event').toBe(1)
  })

  it('gets the reviews of its detections, each latest one once, also after a backup was restored', async () => {
    const startedAt = new Date(hub.clock.now()).toISOString()
    const seen = (id: string, label: string) => ({
      id,
      camera: 'Gate',
      label,
      severity: 'alert' as const,
      score: 0.9,
      startedAt,
    })
    await hub.app.inject(signed(DETECTIONS, { detections: [seen('d1', 'cat'), seen('d2', 'boar')] }))
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const incidents = async () =>
      (await hub.app.inject({ url: '/api/v1/hub/incidents', headers })).json<{ id: string; label: string }[]>()
    const [cat, boar] = (await incidents()).toSorted((a, b) => (a.label < b.label ? 1 : -1))
    const review = (id: string | undefined, verdict: string | null, label?: string) =>
      hub.app.inject({
        method: 'POST',
        url: '/api/v1/hub/incidents/review',
        headers,
        payload: { ids: [id], verdict, label },
      })
    const newest = async () => (await hub.app.inject(signed(HEARTBEAT, beat()))).json<{ reviews: number }>().reviews
    const after = async (seq: number) => (await hub.app.inject(signed(REVIEWS, { after: seq }))).json().reviews
    expect(await newest()).toBe(0)
    await review(cat?.id, 'wrong', 'branch')
    await review(boar?.id, 'right')
    const told = await after(0)
    expect(told).toMatchObject([
      { detection: 'd1', verdict: 'wrong', label: 'branch', at: expect.any(Number) },
      { detection: 'd2', verdict: 'right', label: null },
    ])
    expect(await newest()).toBe(told[1].seq)
    await review(cat?.id, null)
    expect(await after(told[0].seq)).toMatchObject([{ detection: 'd2' }, { detection: 'd1', verdict: null }])
    const last = await newest()
    expect(await after(last)).toEqual([])
    await hub.db.deleteFrom('reviews').execute()
    hub.clock.advance(1_000)
    await review(cat?.id, 'right')
    expect(await after(last), 'the hub has forgotten its last numbers').toMatchObject([{ detection: 'd1' }])
    await hub.db.updateTable('reviews').set({ gateway_id: 'another' }).execute()
    expect(await after(0)).toEqual([])
    expect((await hub.app.inject(signed(REVIEWS, { after: -1 }))).json().error).toBe('invalid_request')
  })

  it('is refused with another’s signature, for another call, with another body, too late, or repeated', async () => {
    const stranger = identityOfSeed(generateIdentitySeed())
    const replayed = signed(HEARTBEAT, beat())
    expect((await hub.app.inject(replayed)).statusCode).toBe(200)
    const attempts = {
      stranger: signed(HEARTBEAT, beat(), { signer: stranger }),
      otherCall: signed(HEARTBEAT, beat(), { target: DETECTIONS }),
      otherBody: { ...signed(HEARTBEAT, beat()), payload: JSON.stringify({ ...beat(), disk: 0.99 }) },
      late: signed(HEARTBEAT, beat(), { timeMs: hub.clock.now() - 121_000 }),
      replayed,
    }
    const codes: Record<string, string> = {}
    for (const [name, attempt] of Object.entries(attempts)) codes[name] = (await hub.app.inject(attempt)).json().error
    expect(codes).toEqual({
      stranger: 'signature_invalid',
      otherCall: 'signature_invalid',
      otherBody: 'signature_invalid',
      late: 'request_replayed',
      replayed: 'request_replayed',
    })
  })

  it('is refused from devices that wait for approval, were rejected or were deleted', async () => {
    await hub.db.deleteFrom('gateways').execute()
    const outcome = async () => (await hub.app.inject(signed(HEARTBEAT, beat()))).json().error
    expect(await outcome(), 'deleted').toBe('gateway_unknown')
    const { publicKey, privateKey } = newKeys()
    const device = createTestDevice(hub.app, { now: hub.clock.now, identity, publicKey, privateKey })
    const { registrationId } = (await device.register()).body
    expect(await outcome(), 'waiting').toBe('gateway_unknown')
    await hub.db.updateTable('registrations').set({ status: 'rejected' }).where('id', '=', registrationId).execute()
    expect(await outcome(), 'rejected').toBe('gateway_unknown')
  })

  it('is refused from a stranger before its body is read', async () => {
    const { port } = await hub.start()
    const status = await new Promise<number>((resolve, reject) => {
      const asking = request({
        port,
        host: '127.0.0.1',
        method: 'POST',
        path: DETECTIONS,
        headers: { 'content-type': 'application/json', 'content-length': String(1024 * 1024) },
      })
      asking.on('error', reject)
      // The body is never sent.
      asking.on('response', (answer) => {
        resolve(answer.statusCode ?? 0)
        asking.destroy()
      })
      asking.flushHeaders()
    })
    expect(status).toBe(403)
  })

  it('counts towards its address’s rate limit', async () => {
    hub.clock.freeze()
    const statuses = new Set<number>()
    for (let i = 0; i < 230; i++) statuses.add((await hub.app.inject({ method: 'POST', url: HEARTBEAT })).statusCode)
    expect([...statuses]).toEqual([403, 429])
  })
})
