import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { HUB_SIGNATURE_HEADER, NONCE_HEADER } from '@hedgerow/enrolment'
import type { ApprovedRegistration } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice } from '#testing/device.ts'

describe.each(testEngines)('the status of a registration on %s', (engine) => {
  let hub: TestHub
  let port: number
  let hubIdentity: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    port = (await hub.start()).port
    hubIdentity = (await createTestDevice(hub.app).challenge()).hubIdentityPublicKey
  })
  afterAll(() => hub.stop())

  const waiting = async () => {
    const its = createTestDevice(hub.app, { now: hub.clock.now, hubIdentity })
    return { ...its, id: (await its.register()).body.registrationId }
  }
  const decide = async (id: string, what: 'approve' | 'reject') => {
    const headers = { authorization: `Bearer ${await hub.signIn('manager')}` }
    const url = `/api/v1/admin/gateway-requests/${id}/${what}`
    const answer = await hub.app.inject({
      method: 'POST',
      url,
      headers,
      ...(what === 'reject' && { payload: { reason: 'No' } }),
    })
    expect(answer.statusCode).toBe(200)
    return answer.json()
  }

  it('is pending, and the hub signs the answer for this request', async () => {
    const barn = await waiting()
    const { body, headers } = await barn.status(barn.id)
    expect(body).toEqual({ status: 'pending' })
    expect(headers[HUB_SIGNATURE_HEADER]).toMatch(/==$/)
  })

  it('gives an approved device all it needs, with the preshared key sealed for its WireGuard key', async () => {
    const barn = await waiting()
    const { gatewayId, assignedIp } = await decide(barn.id, 'approve')
    const nonce = randomBytes(32).toString('base64')
    const { body } = await barn.status(barn.id, { nonce })
    const { preshared_key } = await hub.db
      .selectFrom('gateways')
      .select('preshared_key')
      .where('id', '=', gatewayId)
      .executeTakeFirstOrThrow()
    expect(body).toEqual({
      status: 'approved',
      gatewayId,
      assignedIp,
      hubVpnIp: '10.100.0.1',
      allowedIps: ['10.100.0.1/32'],
      endpoints: [`hub.example:${hub.vpn.port}`],
      hubPublicKey: hub.vpn.publicKey,
      hubEphemeralPublicKey: expect.any(String),
      sealedPresharedKey: expect.any(String),
      keepaliveSeconds: 25,
    })
    const approved = body as unknown as ApprovedRegistration
    expect(JSON.stringify(body)).not.toContain(preshared_key)
    expect(barn.presharedKey(approved, nonce)).toBe(preshared_key)
    expect(barn.presharedKey(approved, randomBytes(32).toString('base64'))).toBeUndefined()
  })

  it('leads to the host that the device signed, not to a forged Host header', async () => {
    const barn = await waiting()
    await decide(barn.id, 'approve')
    const ask = async (sent: { hub?: string; host: string; payload?: string }) => {
      const request = barn.statusRequest(barn.id, sent.hub === undefined ? {} : { hub: sent.hub })
      return hub.app.inject({
        ...request,
        headers: { ...request.headers, host: sent.host },
        ...(sent.payload && { payload: sent.payload }),
      })
    }
    const endpoints = async (sent: { hub?: string; host: string }) =>
      (await ask(sent)).json<ApprovedRegistration>().endpoints
    const { port } = hub.vpn
    expect(await endpoints({ hub: 'hub.example:8080', host: 'evil.example' })).toEqual([`hub.example:${port}`])
    expect(await endpoints({ hub: '[2001:db8::1]:8080', host: 'evil.example' })).toEqual([`[2001:db8::1]:${port}`])
    // An older agent does not send the host: then the header counts.
    expect(await endpoints({ host: 'hub.example' })).toEqual([`hub.example:${port}`])
    const changed = await ask({ hub: 'hub.example', host: 'hub.example', payload: '{"hub":"evil.example"}' })
    expect([changed.statusCode, changed.json().error]).toEqual([403, 'signature_invalid'])
    const taken = await ask({ hub: 'hub.example', host: 'evil.example', payload: ' ' })
    expect(taken.statusCode).toBeGreaterThanOrEqual(400)
  })

  it('is held open, and answered at once on a decision', async () => {
    for (const what of ['approve', 'reject'] as const) {
      const barn = await waiting()
      const startedAt = performance.now()
      const held = barn.status(barn.id, { waitSeconds: 25 })
      await new Promise((resolve) => setTimeout(resolve, 100))
      await decide(barn.id, what)
      expect((await held).body.status).toBe(what === 'approve' ? 'approved' : 'rejected')
      expect(performance.now() - startedAt).toBeLessThan(20_000)
    }
  })

  it('is answered with pending after the waiting time', async () => {
    const barn = await waiting()
    const startedAt = performance.now()
    expect((await barn.status(barn.id, { waitSeconds: 1 })).body).toEqual({ status: 'pending' })
    expect(performance.now() - startedAt).toBeGreaterThan(900)
  })

  it('is held once for each registration: of two requests, one is answered at once', async () => {
    const barn = await waiting()
    const asked = [barn.status(barn.id, { waitSeconds: 25 }), barn.status(barn.id, { waitSeconds: 25 })]
    expect((await Promise.race(asked)).body).toEqual({ status: 'pending' })
    await decide(barn.id, 'approve')
    const statuses = (await Promise.all(asked)).map(({ body }) => body.status)
    expect(statuses.toSorted()).toEqual(['approved', 'pending'])
  })

  it('stops waiting when the client leaves, and for all when the hub stops', async () => {
    const own = await startTestHub(engine)
    const { port: ownPort } = await own.start()
    const device = createTestDevice(own.app, { now: own.clock.now })
    const { registrationId } = (await device.register()).body
    const ask = () => {
      const { url, headers } = device.statusRequest(registrationId, { waitSeconds: 25 })
      const request = httpRequest({
        port: ownPort,
        method: 'POST',
        path: String(url),
        headers: headers as Record<string, string>,
      })
      const answered = new Promise<string>((resolve) => {
        request.on('response', (response) => response.setEncoding('utf8').on('data', resolve))
        request.on('error', () => resolve('gone'))
      })
      request.end()
      return { request, answered }
    }
    const leaving = ask()
    await once(own.app.server, 'request')
    leaving.request.destroy()
    expect(await leaving.answered).toBe('gone')
    const staying = ask()
    await once(own.app.server, 'request')
    await own.stop()
    expect(await staying.answered).toContain('pending')
  })

  it.each([
    ['of another identity', async (id: string) => createTestDevice(hub.app, { now: hub.clock.now }).status(id)],
    [
      'for another waiting time',
      async (id: string, barn: ReturnType<typeof createTestDevice>) => {
        const request = barn.statusRequest(id, { waitSeconds: 1 })
        const response = await hub.app.inject({ ...request, url: String(request.url).replace('=1', '=2') })
        return { status: response.statusCode, body: response.json() }
      },
    ],
    [
      'without its nonce',
      async (id: string, barn: ReturnType<typeof createTestDevice>) => {
        const request = barn.statusRequest(id)
        delete (request.headers as Record<string, string>)[NONCE_HEADER]
        const response = await hub.app.inject(request)
        return { status: response.statusCode, body: response.json() }
      },
    ],
  ])('refuses a signature %s', async (_name, ask) => {
    const barn = await waiting()
    const { status, body } = await ask(barn.id, barn)
    expect([status, body.error]).toEqual([403, 'signature_invalid'])
  })

  it('refuses a repeated request, and one whose time is more than two minutes off', async () => {
    const barn = await waiting()
    const request = barn.statusRequest(barn.id)
    expect((await hub.app.inject(request)).statusCode).toBe(200)
    const replayed = await hub.app.inject(request)
    expect([replayed.statusCode, replayed.json().error]).toEqual([409, 'request_replayed'])
    hub.clock.advance(60_000)
    expect((await hub.app.inject(request)).json().error).toBe('request_replayed')
    hub.clock.advance(240_000)
    expect((await hub.app.inject(request)).json().error).toBe('request_replayed')
    for (const offset of [-121_000, 150_000])
      expect((await barn.status(barn.id, { timeMs: hub.clock.now() + offset })).body.error).toBe('request_replayed')
    for (const offset of [-90_000, 119_000])
      expect((await barn.status(barn.id, { timeMs: hub.clock.now() + offset })).status).toBe(200)
  })

  it('refuses an unknown registration and an invalid waiting time', async () => {
    const barn = await waiting()
    expect((await barn.status('b'.repeat(20))).body.error).toBe('registration_not_found')
    expect((await barn.status(barn.id, { waitSeconds: 26 })).body.error).toBe('invalid_request')
    expect((await barn.status('../../../etc')).status).toBe(404)
  })

  it('does not sign an answer to a request that it could not verify', async () => {
    const barn = await waiting()
    const stranger = createTestDevice(hub.app, { now: hub.clock.now })
    expect((await stranger.status(barn.id)).headers).not.toHaveProperty(HUB_SIGNATURE_HEADER)
    expect(port).toBeGreaterThan(0)
  })
})
