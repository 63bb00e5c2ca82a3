import { randomBytes } from 'node:crypto'
import { fingerprint, IDENTITY_HEADER, registrationBytes, SIGNATURE_HEADER } from '@hedgerow/enrolment'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, newKeys } from '#testing/device.ts'

const DAY_MS = 86_400_000

describe.each(testEngines)('enrolment on %s', (engine) => {
  let hub: TestHub
  let count = 0
  beforeAll(async () => {
    hub = await startTestHub(engine)
  })
  afterAll(() => hub.stop())

  /** A new address for each device, so that tests do not use up each other's limits. */
  const device = (options: Parameters<typeof createTestDevice>[1] = {}) =>
    createTestDevice(hub.app, { from: `198.51.100.${++count}`, now: hub.clock.now, ...options })
  const rows = () => hub.db.selectFrom('registrations').selectAll().execute()
  const rowOf = async (id: string) => (await rows()).find((row) => row.id === id)

  it('accepts a device that proves both keys and makes it wait', async () => {
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

  it('never shows the device token, nor sends it in clear text', async () => {
    const barn = device()
    const message = barn.message(await barn.challenge())
    const { body } = await barn.send(message)
    expect(JSON.stringify([message, body])).not.toContain(barn.deviceToken.slice(3))
  })

  it('keeps the same row for the same keys, with its details updated', async () => {
    const barn = device()
    const first = await barn.register()
    const again = await barn.register({ deviceName: 'Big barn', deviceVersion: '2.0.0' })
    expect(again.body).toEqual(first.body)
    expect(await rowOf(first.body.registrationId)).toMatchObject({ device_name: 'Big barn', device_version: '2.0.0' })
  })

  it.each([
    ['of another identity', (raw: Buffer) => newKeys().identity.sign(registrationBytes(raw))],
    ['of other bytes', () => undefined],
    ['that is not base64', () => 'not a signature'],
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

  it('refuses a challenge that was made up, belongs to other keys, or is two minutes old', async () => {
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

  it('refuses a proof by another WireGuard key, and stores nothing of it', async () => {
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

  it('refuses a sealed part that does not open or holds something else', async () => {
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

  it('names unknown and invalid fields', async () => {
    const unknown = await device().register({ role: 'admin' })
    expect([unknown.status, unknown.body.error]).toEqual([400, 'invalid_request'])
    expect(unknown.body.fieldErrors).toHaveProperty('role')
    const hostile = await device().register({ deviceName: 'Barn\u202e\n<script>' })
    expect(hostile.body.fieldErrors).toHaveProperty('deviceName')
    expect(JSON.stringify(hostile.body)).not.toContain('script')
    expect((await device().register({ version: 2 })).body.fieldErrors).toHaveProperty('version')
  })

  it('refuses a body over 16 KiB before it parses it', async () => {
    const { status, body } = await device().register({ padding: 'x'.repeat(17 * 1024) })
    expect([status, body.error]).toEqual([413, 'payload_too_large'])
  })

  it('limits one address while others still get through', async () => {
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
            requested_at: hub.clock.now() - number + i,
          })),
        )
        .execute()
    const invite = async (maxUses: number) =>
      hub.app.inject({
        method: 'POST',
        url: '/api/v1/admin/gateway-invitations',
        headers: { authorization: `Bearer ${await hub.signIn('manager')}` },
        payload: { label: 'Site', maxUses, expiresInHours: 1 },
      })
    const empty = () => hub.db.deleteFrom('registrations').where('id', 'like', 'fill%').execute()

    afterEach(empty)

    it('drops the newest of the crowd for a newcomer; the crowd itself cannot add more', async () => {
      const waiting = device({ from: '203.0.113.50' })
      const first = await waiting.register()
      const already = (await rows()).filter((row) => row.status === 'pending').length
      await fill(1_000 - already, (i) => `2001:db8:1:${(i % 20).toString(16)}::1`)
      const fillers = async () => (await rows()).filter((row) => row.device_name === 'Filler').length
      const before = await fillers()
      const barn = device()
      expect((await barn.register()).status).toBe(202)
      const left = await rows()
      expect(left.filter((row) => row.status === 'pending')).toHaveLength(1_000)
      expect(await fillers()).toBe(before - 1)
      expect((await waiting.register()).body).toEqual(first.body)
      const ofCrowd = await device({ from: '2001:db8:1:5::9' }).register()
      expect([ofCrowd.status, ofCrowd.body.error]).toEqual([503, 'pending_limit_reached'])
    })

    it('accepts devices with an invitation, but no more than it has uses', async () => {
      const already = (await rows()).filter((row) => row.status === 'pending').length
      await fill(1_000 - already, () => '198.51.100.9')
      const { invitation, code } = (await invite(2)).json<{ invitation: { id: string }; code: string }>()
      const invited = (from: string) => device({ from }).register({}, code)
      // From the crowd's address, which has no room left.
      expect((await invited('198.51.100.9')).status).toBe(202)
      expect((await invited('198.51.100.9')).status).toBe(202)
      expect((await invited('198.51.100.9')).body.error).toBe('pending_limit_reached')
      expect((await rows()).filter((row) => row.invitation_id === invitation.id)).toHaveLength(2)
    })

    it('keeps claimed requests, and accepts a gateway’s key change', async () => {
      const claimed = device({ from: '198.51.100.9' })
      await claimed.register()
      const token = { authorization: `Bearer ${await hub.signIn('user')}` }
      const payload = { deviceToken: claimed.deviceToken }
      expect(
        (await hub.app.inject({ method: 'POST', url: '/api/v1/gateway/claim', payload, headers: token })).statusCode,
      ).toBe(200)
      const member = device({ from: '198.51.100.9' })
      const manager = { authorization: `Bearer ${await hub.signIn('manager')}` }
      const { registrationId } = (await member.register()).body
      const url = `/api/v1/admin/gateway-requests/${registrationId}/approve`
      expect((await hub.app.inject({ method: 'POST', url, headers: manager })).statusCode).toBe(200)

      await fill(1_000, () => '198.51.100.9')
      expect((await device({ from: '203.0.113.77' }).register()).status).toBe(202)
      expect((await rows()).some((row) => row.identity_public_key === claimed.identity.publicKey)).toBe(true)
      const changed = () => device({ from: '198.51.100.9', identity: member.identity }).register()
      expect([(await changed()).status, (await changed()).status, (await changed()).status]).toEqual([202, 202, 202])
      expect((await changed()).body.error).toBe('pending_limit_reached')
    })

    it('notifies nobody about a flood after its first thousand requests', async () => {
      await fill(1_000, () => '198.51.100.9')
      const told = async () => (await hub.db.selectFrom('activity').select('id').execute()).length
      const before = await told()
      expect((await device({ from: '203.0.113.78' }).register()).status).toBe(202)
      expect(await told()).toBe(before)
    })

    it.each([
      ['an IPv4 address', () => '198.51.100.9', '198.51.100.9', 300],
      ['a /64', (i: number) => `2001:db8:1:2::${(i + 1).toString(16)}`, '2001:db8:1:2:aaaa::1', 300],
      ['a /56', (i: number) => `2001:db8:1:2${(i % 256).toString(16).padStart(2, '0')}::1`, '2001:db8:1:2ff::9', 450],
      ['a /48', (i: number) => `2001:db8:1:${(i * 97).toString(16)}::1`, '2001:db8:1:ffff::9', 600],
    ])('%s cannot fill it', async (_, of, next, most) => {
      await hub.db.deleteFrom('registrations').where('status', '=', 'pending').execute()
      await fill(most, of)
      expect((await device({ from: next }).register()).body.error).toBe('pending_limit_reached')
      expect((await device({ from: '2001:db8:2:3::1' }).register()).status).toBe(202)
    })
  })

  /** Time in which the hub runs and looks at its clock. */
  const passTime = async (ms: number) => {
    hub.clock.advance(ms)
    await hub.db.updateTable('hub_clock').set({ seen_at: hub.clock.now(), hold_ms: 0 }).execute()
  }

  it('deletes a request that nobody decided for 7 days; the device then asks again', async () => {
    const barn = device()
    const first = await barn.register()
    const admin = { authorization: `Bearer ${await hub.signIn('admin')}` }
    await passTime(7 * DAY_MS)
    const id = await hub.addUser('fresh', 'admin', 'a-password')
    const fresh = { authorization: `Bearer ${await hub.sessions.start({ id }, { sourceIp: '', userAgent: '' })}` }
    const url = `/api/v1/admin/gateway-requests/${first.body.registrationId}/approve`
    expect((await hub.app.inject({ method: 'POST', url, headers: admin })).json().error).toBe('session_ended')
    expect((await hub.app.inject({ method: 'POST', url, headers: fresh })).json().error).toBe('registration_not_found')
    const second = await barn.register()
    expect(second.status).toBe(202)
    expect(second.body.registrationId).not.toBe(first.body.registrationId)
  })

  it('keeps a request through a leap of the clock, for a day', async () => {
    const waiting = async () =>
      (await hub.db.selectFrom('registrations').select('id').where('status', '=', 'pending').execute()).map(
        ({ id }) => id,
      )
    const { registrationId } = (await device().register()).body
    await passTime(0)
    hub.clock.advance(400 * DAY_MS)
    const other = await device().register()
    expect(await waiting(), 'before the hub has looked at its clock').toContain(registrationId)
    await hub.db.updateTable('hub_clock').set({ seen_at: hub.clock.now(), hold_ms: DAY_MS }).execute()
    await device().register()
    expect(await waiting()).toContain(registrationId)
    const admin = await hub.addUser('after-the-leap', 'admin', 'a-password')
    const authorization = `Bearer ${await hub.sessions.start({ id: admin }, { sourceIp: '', userAgent: '' })}`
    const ask = async (method: 'GET' | 'POST', path: string) =>
      (
        await hub.app.inject({ method, url: `/api/v1/admin/gateway-requests/${path}`, headers: { authorization } })
      ).json()
    const listed = (await ask('GET', 'pending')) as { registrationId: string }[]
    expect(listed.map((row) => row.registrationId)).toContain(registrationId)
    expect(await ask('POST', `${registrationId}/approve`)).toHaveProperty('gatewayId')

    await passTime(DAY_MS)
    await device().register()
    expect(await waiting()).toContain(other.body.registrationId)
    await passTime(7 * DAY_MS)
    await device().register()
    expect(await waiting()).not.toContain(other.body.registrationId)
  })
})
