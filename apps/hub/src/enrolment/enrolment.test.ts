import { randomBytes } from 'node:crypto'
import { fingerprint, IDENTITY_HEADER, registrationBytes, SIGNATURE_HEADER } from '@hedgerow/enrolment'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, newKeys } from '#testing/device.ts'

describe.each(testEngines)('enrolment on %s', (engine) => {
  let hub: TestHub
  let count = 0
  beforeAll(async () => {
    hub = await startTestHub(engine)
  })
  afterAll(() => hub.stop())

  /** Each from an address of its own, so that one test's requests do not use up another's. */
  const device = (options: Parameters<typeof createTestDevice>[1] = {}) =>
    createTestDevice(hub.app, { from: `198.51.100.${++count}`, now: hub.clock.now, ...options })
  const rows = () => hub.db.selectFrom('registrations').selectAll().execute()
  const rowOf = async (id: string) => (await rows()).find((row) => row.id === id)

  it('takes a device that proves both keys and lets it wait', async () => {
    const barn = device()
    const { status, body } = await barn.register()
    expect(status).toBe(202)
    expect(body).toEqual({
      registrationId: expect.stringMatching(/^[a-z2-7]{20}$/),
      status: 'pending',
      fingerprint: fingerprint(barn.identity.publicKey),
    })
    expect(await rowOf(body.registrationId)).toMatchObject({
      device_name: 'Barn',
      device_location: 'North field',
      device_token: barn.deviceToken,
      source_ip: '198.51.100.1',
    })
  })

  it('never shows the device token, nor sends it in the clear', async () => {
    const barn = device()
    const message = barn.message(await barn.challenge())
    const { body } = await barn.send(message)
    expect(JSON.stringify([message, body])).not.toContain(barn.deviceToken.slice(3))
  })

  it('gives the same keys the same row, with its details refreshed', async () => {
    const barn = device()
    const first = await barn.register()
    const again = await barn.register({ deviceName: 'Big barn', deviceVersion: '2.0.0' })
    expect(again.body).toEqual(first.body)
    expect(await rowOf(first.body.registrationId)).toMatchObject({ device_name: 'Big barn', device_version: '2.0.0' })
  })

  it.each([
    ['of another identity', (raw: Buffer) => newKeys().identity.sign(registrationBytes(raw))],
    ['of other bytes', () => undefined],
    ['that is no base64', () => 'not a signature'],
  ])('refuses a signature %s', async (_name, sign) => {
    const barn = device()
    const before = (await rows()).length
    const message = barn.message(await barn.challenge())
    const signature =
      sign(Buffer.from(JSON.stringify(message))) ?? barn.identity.sign(registrationBytes(Buffer.from('{}')))
    const { status, body } = await barn.send(message, { [SIGNATURE_HEADER]: signature })
    expect([status, body.error]).toEqual([403, 'signature_invalid'])
    expect((await rows()).length).toBe(before)
  })

  it('refuses a registration without a signature, whatever other headers say', async () => {
    const barn = device()
    const payload = JSON.stringify(barn.message(await barn.challenge()))
    const headers = { 'content-type': 'application/json', [IDENTITY_HEADER]: barn.identity.publicKey }
    const response = await hub.app.inject({ method: 'POST', url: '/api/v1/gateway/register', payload, headers })
    expect([response.statusCode, response.json().error]).toEqual([403, 'signature_invalid'])
  })

  it('uses a challenge once', async () => {
    const barn = device()
    const message = barn.message(await barn.challenge())
    expect((await barn.send(message)).status).toBe(202)
    const replayed = await barn.send(message)
    expect([replayed.status, replayed.body.error]).toEqual([409, 'challenge_unknown'])
  })

  it('refuses a challenge that was made up, that is of other keys, or that is two minutes old', async () => {
    const barn = device()
    const shed = device()
    const challenge = await barn.challenge()
    const madeUp = await barn.send(barn.message({ ...challenge, nonce: randomBytes(32).toString('base64') }))
    const stolen = await shed.send(shed.message(challenge))
    expect([madeUp.body.error, stolen.body.error]).toEqual(['challenge_unknown', 'challenge_unknown'])
    expect((await barn.send(barn.message(challenge))).status, 'the thief did not use it up').toBe(202)

    const late = await barn.challenge()
    hub.clock.advance(120_001)
    expect((await barn.send(barn.message(late))).body.error).toBe('challenge_unknown')
  })

  it('refuses a proof by another WireGuard key, and keeps nothing of it', async () => {
    const barn = device()
    const challenge = await barn.challenge()
    const thief = device({ identity: barn.identity })
    const { status, body } = await barn.send(
      barn.message(challenge, { proof: thief.message({ ...challenge, wireguardPublicKey: thief.publicKey })['proof'] }),
    )
    expect([status, body.error]).toEqual([403, 'proof_invalid'])
    expect((await rows()).some((row) => row.identity_public_key === barn.identity.publicKey)).toBe(false)
  })

  it.each([
    ['all zero', '00'.repeat(32)],
    ['of low order', 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'],
  ])('refuses a WireGuard key that is %s', async (_name, hex) => {
    const barn = device({ publicKey: Buffer.from(hex, 'hex').toString('base64'), privateKey: newKeys().privateKey })
    const { status, body } = await barn.register()
    expect([status, body.error]).toEqual([400, 'key_invalid'])
  })

  it.each([
    ['identityPublicKey', '00'.repeat(32)],
    ['identityPublicKey', `01${'00'.repeat(31)}`],
    ['wireguardPublicKey', `${'ab'.repeat(31)}ff`],
    ['wireguardPublicKey', `ee${'ff'.repeat(30)}7f`],
  ])('gives no challenge for the %s %s', async (field, hex) => {
    const keys = newKeys()
    const payload = {
      identityPublicKey: keys.identity.publicKey,
      wireguardPublicKey: keys.publicKey,
      [field]: Buffer.from(hex, 'hex').toString('base64'),
    }
    const response = await hub.app.inject({ method: 'POST', url: '/api/v1/gateway/register/challenge', payload })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ error: 'key_invalid', fieldErrors: { [field]: expect.any(String) } })
  })

  it('refuses a sealed part that it cannot open, or that holds something else', async () => {
    const barn = device()
    const noToken = device({ deviceToken: 'DT-xyz' })
    const flipped = (text: unknown) => String(text).replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))
    const message = barn.message(await barn.challenge())
    const unsealable = await barn.send({ ...message, sealed: flipped(message['sealed']) })
    const empty = await barn.register({ sealed: '' })
    const wrong = await noToken.register()
    for (const answer of [unsealable, empty, wrong])
      expect([answer.status, answer.body.error]).toEqual([400, 'sealed_invalid'])
  })

  it('names unknown fields and fields that are not as they should be', async () => {
    const unknown = await device().register({ role: 'admin' })
    expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_request'])
    expect(unknown.body.fieldErrors).toHaveProperty('role')
    const hostile = await device().register({ deviceName: 'Barn\u202e\n<script>' })
    expect(hostile.body.fieldErrors).toHaveProperty('deviceName')
    expect(JSON.stringify(hostile.body)).not.toContain('script')
    expect((await device().register({ version: 2 })).body.fieldErrors).toHaveProperty('version')
  })

  it('refuses a body over 16 KiB before it looks into it', async () => {
    const { status, body } = await device().register({ padding: 'x'.repeat(17 * 1024) })
    expect([status, body.error]).toEqual([413, 'payload_too_large'])
  })

  it('limits one address while others still enter', async () => {
    hub.clock.freeze()
    const keys = newKeys()
    const payload = { identityPublicKey: keys.identity.publicKey, wireguardPublicKey: keys.publicKey }
    const ask = (remoteAddress: string) =>
      hub.app.inject({ method: 'POST', url: '/api/v1/gateway/register/challenge', payload, remoteAddress })
    const answers = await Promise.all(Array.from({ length: 300 }, () => ask('203.0.113.1')))
    const refused = answers.filter((answer) => answer.statusCode === 429)
    expect(refused.length).toBeGreaterThanOrEqual(150)
    expect(refused[0]!.json().error).toBe('too_many_requests')
    expect((await ask('203.0.113.2')).statusCode).toBe(200)
    hub.clock.advance(60_000)
    expect((await ask('203.0.113.1')).statusCode).toBe(200)
  })

  describe('with a full queue', () => {
    const fill = (number: number, sourceIp: (i: number) => string) =>
      hub.db
        .insertInto('registrations')
        .values(
          Array.from({ length: number }, (_, i) => ({
            id: `fill${String(i).padStart(16, 'a')}`,
            status: 'pending' as const,
            identity_public_key: `identity ${i}`,
            wireguard_public_key: `key ${i}`,
            device_name: 'Filler',
            device_location: '',
            device_version: '',
            mac_address: '',
            device_token: `DT-${i}`,
            source_ip: sourceIp(i),
            requested_at: hub.clock.now(),
          })),
        )
        .execute()
    const empty = () => hub.db.deleteFrom('registrations').where('id', 'like', 'fill%').execute()

    it('refuses the next device, keeps those that wait, and takes it when there is room', async () => {
      const waiting = device()
      const first = await waiting.register()
      const already = (await rows()).filter((row) => row.status === 'pending').length
      await fill(1_000 - already, (i) => `192.0.${i % 250}.1`)
      const barn = device()
      const { status, body } = await barn.register()
      expect([status, body.error]).toEqual([503, 'pending_limit_reached'])
      expect((await waiting.register()).body).toEqual(first.body)
      await empty()
      expect((await barn.register()).status).toBe(202)
    })

    it('does not let one address fill it, and counts an IPv6 site as one', async () => {
      await fill(100, (i) => `2001:db8:1:2::${i + 1}`)
      expect((await device({ from: '2001:db8:1:2:aaaa::1' }).register()).body.error).toBe('pending_limit_reached')
      expect((await device({ from: '2001:db8:1:3::1' }).register()).status).toBe(202)
      await empty()
    })
  })

  it('forgets after 7 days a request that nobody decided; the device then asks anew', async () => {
    const barn = device()
    const first = await barn.register()
    const admin = { authorization: `Bearer ${await hub.signIn('admin')}` }
    hub.clock.advance(7 * 24 * 3_600_000)
    const fresh = {
      authorization: `Bearer ${await hub.sessions.start({ id: await hub.addUser('fresh', 'admin', 'a-password') }, { sourceIp: '', userAgent: '' })}`,
    }
    const url = `/api/v1/admin/gateway-requests/${first.body.registrationId}/approve`
    expect((await hub.app.inject({ method: 'POST', url, headers: admin })).json().error).toBe('session_ended')
    expect((await hub.app.inject({ method: 'POST', url, headers: fresh })).json().error).toBe('registration_not_found')
    const second = await barn.register()
    expect(second.status).toBe(202)
    expect(second.body.registrationId).not.toBe(first.body.registrationId)
  })
})
