import type { AutoApprovalSettings, GatewayInvitation, PendingRegistration, Role } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, type TestDevice } from '#testing/device.ts'

const ON: Partial<AutoApprovalSettings> = { enabled: true, requireAdminApproval: false }

describe.each(testEngines)('approval without a person on %s', (engine) => {
  let hub: TestHub
  beforeEach(async () => {
    hub = await startTestHub(engine)
  })
  afterEach(() => hub.stop())

  const call = async (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    role: Role = 'admin',
  ) =>
    hub.app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${await hub.signIn(role)}`, host: 'hub.example:8080' },
      ...(payload && { payload }),
    })
  const set = (settings: Partial<AutoApprovalSettings>, role?: Role) =>
    call('PATCH', '/admin/auto-approval/settings', settings, role)
  const test = async (ip: string) => (await call('POST', '/admin/auto-approval/test', { ip }, 'manager')).json()
  const pending = async (): Promise<PendingRegistration[]> =>
    (await call('GET', '/admin/gateway-requests/pending')).json()
  const device = (options: Parameters<typeof createTestDevice>[1] = {}) =>
    createTestDevice(hub.app, { now: hub.clock.now, ...options })
  const invite = async (wanted: object = {}): Promise<{ invitation: GatewayInvitation; code: string }> =>
    (await call('POST', '/admin/gateway-invitations', { label: 'Spring', ...wanted }, 'manager')).json()
  const invitation = async () => ((await call('GET', '/admin/gateway-invitations')).json() as GatewayInvitation[])[0]!
  const registerWith = async (code: string, one: TestDevice = device()) => one.register({}, code)

  describe('its settings', () => {
    it('start with approval by invitation only, and all other defaults', async () => {
      expect((await call('GET', '/admin/auto-approval/settings', undefined, 'manager')).json()).toEqual({
        enabled: true,
        ipWhitelist: [],
        networkRanges: [],
        autoApproveWithInvitation: true,
        requireAdminApproval: true,
        notificationEmail: '',
        notificationEnabled: true,
      })
    })

    it('are off when the saved settings are unreadable', async () => {
      await set({ ipWhitelist: ['198.51.100.7'] })
      await hub.db.updateTable('settings').set({ value: '{"enabled":1}' }).where('name', '=', 'autoApproval').execute()
      expect((await call('GET', '/admin/auto-approval/settings')).json().enabled).toBe(false)
    })

    it('can be read and tested by managers and changed by admins', async () => {
      expect((await set(ON, 'manager')).json().error).toBe('role_required')
      expect((await call('GET', '/admin/auto-approval/settings', undefined, 'user')).json().error).toBe('role_required')
      expect((await set(ON)).statusCode).toBe(200)
    })

    it('keep each address in one spelling and drop blank entries', async () => {
      const saved = (
        await set({ ipWhitelist: [' ', '::ffff:198.51.100.7', '2001:DB8::0'], networkRanges: ['', '10.0.0.0/8'] })
      ).json()
      expect(saved).toMatchObject({ ipWhitelist: ['198.51.100.7', '2001:db8::'], networkRanges: ['10.0.0.0/8'] })
      expect((await call('GET', '/admin/auto-approval/settings')).json()).toEqual(saved)
    })

    it.each([
      [{ ipWhitelist: ['10.0.0.1', '010.0.0.1'] }, 'ipWhitelist.1', 'Invalid IP address format'],
      [{ ipWhitelist: ['10.0.0.1', '::ffff:10.0.0.1'] }, 'ipWhitelist.1', 'IP already in whitelist'],
      [{ networkRanges: ['10.0.0.0/33'] }, 'networkRanges.0', 'Invalid CIDR format (e.g., 10.100.0.0/16)'],
      [{ networkRanges: ['10.1.0.0/16', '10.1.9.9/16'] }, 'networkRanges.1', 'Network range already exists'],
    ])('refuse %j, naming the entry', async (change, field, message) => {
      const response = await set(change)
      expect([response.statusCode, response.json().fieldErrors]).toEqual([400, { [field]: message }])
    })

    it('leave an audit entry with the admin who changed them', async () => {
      await set(ON)
      const entries = await hub.db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'auto-approval.change')
        .execute()
      expect(entries).toMatchObject([{ actor: 'the-admin', result: 'ok' }])
    })
  })

  it('approves a device of a listed range at once: one gateway, one peer, no notification', async () => {
    await set({ ...ON, networkRanges: ['198.51.100.0/24'] })
    expect(await test('198.51.100.7')).toEqual({
      wouldAutoApprove: true,
      message: '198.51.100.7 would be approved: it is in 198.51.100.0/24.',
    })
    const barn = device()
    const { body, status } = await barn.register()
    expect([status, body.status]).toEqual([202, 'approved'])
    expect(hub.vpn.peers().map((peer) => peer.publicKey)).toEqual([barn.publicKey])
    expect((await barn.status(body.registrationId)).body.assignedIp).toBe('10.100.0.2')
    expect((await barn.register()).body.status, 'again').toBe('approved')
    expect(await hub.db.selectFrom('gateways').select('name').execute()).toEqual([{ name: 'Barn' }])
    const activity = await hub.db.selectFrom('activity').select('message').where('gateway_id', 'is not', null).execute()
    expect(activity).toEqual([
      { message: 'Gateway "Barn" was approved automatically, since it is in 198.51.100.0/24: 10.100.0.2' },
    ])
    const audit = await hub.db.selectFrom('audit').selectAll().where('action', '=', 'registration.approve').execute()
    expect(audit).toMatchObject([
      { actor: 'hub', actor_id: null, source_ip: '198.51.100.7', target: body.registrationId },
    ])
  })

  it('says so beside a request from a trusted network that must wait', async () => {
    await set({ enabled: true, networkRanges: ['198.51.100.0/24'] })
    await device().register()
    await device({ from: '203.0.113.5', name: 'Far' }).register()
    expect((await pending()).map(({ deviceName, trustedNetwork }) => [deviceName, trustedNetwork])).toEqual([
      ['Barn', true],
      ['Far', false],
    ])
    expect((await test('198.51.100.7')).wouldAutoApprove).toBe(false)
    await set({ enabled: false, networkRanges: ['198.51.100.0/24'] })
    expect((await pending()).some(({ trustedNetwork }) => trustedNetwork)).toBe(false)
  })

  it('ignores X-Forwarded-For of a stranger', async () => {
    await set({ ...ON, ipWhitelist: ['198.51.100.7'] })
    const liar = device({ from: '203.0.113.66' })
    const answer = await liar.send(liar.message(await liar.challenge()), { 'x-forwarded-for': '198.51.100.7' })
    expect(answer.body.status).toBe('pending')
    expect((await pending())[0]).toMatchObject({ sourceIp: '203.0.113.66', trustedNetwork: false })
  })

  it('never exceeds maxGateways, however many ask at once', async () => {
    await set({ ...ON, ipWhitelist: ['198.51.100.7'] })
    await call('PATCH', '/hub/settings', { maxGateways: 3 })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => device({ name: `Gateway ${i}` }).register()))
    expect(answers.filter(({ body }) => body.status === 'approved')).toHaveLength(3)
    expect(await hub.db.selectFrom('gateways').select('id').execute()).toHaveLength(3)
    expect(hub.vpn.peers()).toHaveLength(3)
  })

  it('leaves a change of keys to a person', async () => {
    await set({ ...ON, ipWhitelist: ['198.51.100.7'] })
    const barn = device()
    await barn.register()
    const renewed = device({ identity: barn.identity, deviceToken: barn.deviceToken })
    expect((await renewed.register()).body.status).toBe('pending')
    expect((await renewed.register()).body.status, 'again').toBe('pending')
    expect((await pending())[0]?.keyChangeFor).toBe('Barn')
    expect(hub.vpn.peers().map((peer) => peer.publicKey)).toEqual([barn.publicKey])
  })

  it('does not approve a deleted gateway again, even with new keys, until a person does', async () => {
    await set({ ...ON, ipWhitelist: ['198.51.100.7'] })
    const barn = device()
    const { registrationId } = (await barn.register()).body
    const { gatewayId } = (await barn.status(registrationId)).body
    expect((await call('DELETE', `/hub/gateways/${gatewayId}`, { name: 'Barn' })).statusCode).toBe(204)
    expect((await barn.status(registrationId)).body.error).toBe('registration_not_found')
    for (const again of [barn, barn, device({ identity: barn.identity })])
      expect((await again.register()).body.status).toBe('pending')
    expect(hub.vpn.peers()).toEqual([])
    expect((await call('POST', `/admin/gateway-requests/${registrationId}/approve`)).statusCode).toBe(200)
  })

  it('keeps a rejected identity rejected until the rejection is lifted', async () => {
    const barn = device()
    const { registrationId } = (await barn.register()).body
    await call('POST', `/admin/gateway-requests/${registrationId}/reject`, { reason: 'Not ours' })
    await set({ ...ON, ipWhitelist: ['198.51.100.7'] })
    expect((await barn.register()).body.status).toBe('rejected')
    const moved = device({ identity: barn.identity })
    expect((await moved.register()).body.status, 'with another tunnel key').toBe('rejected')
    const rejected = (await call('GET', '/admin/gateway-requests/rejected', undefined, 'manager')).json()
    expect(rejected).toMatchObject([
      { registrationId, reason: 'Not ours', rejectedBy: 'the-admin', deviceName: 'Barn' },
    ])
    const lift = () => call('POST', `/admin/gateway-requests/${registrationId}/lift`, undefined, 'manager')
    expect((await lift()).json()).toEqual({ deviceName: 'Barn' })
    expect((await lift()).json().error).toBe('registration_not_found')
    expect((await barn.register()).body.status).toBe('approved')
  })

  describe('by invitation', () => {
    beforeEach(() => set({ enabled: true }))

    it('approves as many as it has uses, in any spelling of its code, and the next waits', async () => {
      const { code } = await invite({ maxUses: 2 })
      expect(code).toMatch(/^([A-Z2-7]{4}-){4}[A-Z2-7]{4}$/)
      expect((await registerWith(code)).body.status).toBe('approved')
      expect((await registerWith(code.toLowerCase().replaceAll('-', ' '), device({ name: 'B' }))).body.status).toBe(
        'approved',
      )
      expect((await registerWith(code, device({ name: 'C' }))).body.status).toBe('pending')
      expect(await invitation()).toMatchObject({ uses: 2, maxUses: 2, status: 'used_up' })
    })

    it('counts one use when fifty ask at once with the last one', async () => {
      const { code } = await invite()
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => registerWith(code, device({ name: `Gateway ${i}` }))),
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
      expect(answers.filter(({ body }) => body.status === 'approved')).toHaveLength(1)
      expect(await invitation()).toMatchObject({ uses: 1, status: 'used_up' })
    })

    it('counts no second use for a device that asks again', async () => {
      const { code } = await invite({ maxUses: 2 })
      const barn = device()
      await registerWith(code, barn)
      await registerWith(code, barn)
      expect((await invitation()).uses).toBe(1)
    })

    it('gives its description to the gateways that join with it, and to no others', async () => {
      const { code } = await invite({ description: 'Behind the mill.\nKey at the pump.' })
      await registerWith(code)
      await registerWith(code, device({ name: 'Late' }))
      const waiting = (await call('GET', '/admin/gateway-requests/pending')).json<{ registrationId: string }[]>()
      await call('POST', `/admin/gateway-requests/${waiting[0]!.registrationId}/approve`)
      const gateways = await hub.db.selectFrom('gateways').select('description').orderBy('created_at').execute()
      expect(gateways.map(({ description }) => description)).toEqual(['Behind the mill.\nKey at the pump.', ''])
    })

    it('that expired, was revoked or never existed approves nobody', async () => {
      const { code, invitation: made } = await invite({ expiresInHours: 1 })
      hub.clock.advance(59 * 60_000)
      const revoked = await invite({ label: 'Autumn' })
      const revoke = () => call('DELETE', `/admin/gateway-invitations/${revoked.invitation.id}`, undefined, 'manager')
      expect([(await revoke()).statusCode, (await revoke()).statusCode]).toEqual([204, 204])
      hub.clock.advance(2 * 60_000)
      const tried = { expired: code, revoked: revoked.code, unknown: 'AAAA-BBBB' }
      const outcomes: string[] = []
      for (const [name, one] of Object.entries(tried))
        outcomes.push((await registerWith(one, device({ name }))).body.status)
      expect(outcomes).toEqual(['pending', 'pending', 'pending'])
      const laterId = await hub.addUser('later', 'admin', 'a long password for later')
      const token = await hub.sessions.start({ id: laterId }, { sourceIp: '', userAgent: '' })
      const headers = { authorization: `Bearer ${token}` }
      const url = '/api/v1/admin/gateway-invitations'
      const list: GatewayInvitation[] = (await hub.app.inject({ method: 'GET', url, headers })).json()
      expect(Object.fromEntries(list.map(({ id, status }) => [id, status]))).toEqual({
        [made.id]: 'expired',
        [revoked.invitation.id]: 'revoked',
      })
    })

    it('waits when approval by invitation is off, and counts when a person approves', async () => {
      await set({ enabled: true, autoApproveWithInvitation: false })
      const { code } = await invite()
      const { registrationId, status } = (await registerWith(code)).body
      expect([status, (await invitation()).uses]).toEqual(['pending', 0])
      await call('POST', `/admin/gateway-requests/${registrationId}/approve`)
      expect((await invitation()).uses).toBe(1)
    })

    it('is shown once, with the command, and stored as a hash', async () => {
      const made = (await call('POST', '/admin/gateway-invitations', { label: 'Spring' }, 'manager')).json()
      expect(made.hubUrl).toBe('http://hub.example:8080')
      const pin = made.hubFingerprint.replaceAll(' ', '-')
      expect(made.command).toBe(
        `GATEWAY_HUB_URL=http://hub.example:8080 GATEWAY_HUB_FINGERPRINT=${pin} ` +
          `GATEWAY_INVITATION_CODE=${made.code} npm run gateway --`,
      )
      const stored = JSON.stringify([
        await hub.db.selectFrom('gateway_invitations').selectAll().execute(),
        await hub.db.selectFrom('audit').selectAll().execute(),
        (await call('GET', '/admin/gateway-invitations')).json(),
      ])
      expect(stored).not.toContain(made.code)
      expect(stored).not.toContain(made.code.replaceAll('-', ''))
    })

    it('puts only a valid host into the command', async () => {
      for (const host of ['x;reboot', 'x$(reboot)', 'x y', '`x`'])
        expect(
          (
            await hub.app.inject({
              method: 'POST',
              url: '/api/v1/admin/gateway-invitations',
              headers: { authorization: `Bearer ${await hub.signIn('manager')}`, host },
              payload: { label: 'Spring' },
            })
          ).statusCode,
        ).toBe(400)
      expect(await hub.db.selectFrom('gateway_invitations').select('id').execute()).toEqual([])
    })

    it('is for managers', async () => {
      expect((await call('POST', '/admin/gateway-invitations', { label: 'x' }, 'user')).json().error).toBe(
        'role_required',
      )
      expect((await call('DELETE', '/admin/gateway-invitations/aaaaaaaaaaaa')).json().error).toBe(
        'invitation_not_found',
      )
    })
  })

  it('lists waiting requests by pages and by search', async () => {
    for (let i = 0; i < 5; i++) await device({ name: `Gateway ${i}%`, from: `198.51.100.${i}` }).register()
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const response = await call('GET', `/admin/gateway-requests/pending?limit=2${cursor ? `&cursor=${cursor}` : ''}`)
      seen.push(...response.json().map((row: PendingRegistration) => row.deviceName))
      cursor = response.headers['x-next-cursor'] as string | undefined
    } while (cursor)
    expect(seen).toEqual([0, 1, 2, 3, 4].map((i) => `Gateway ${i}%`))
    const found = async (q: string) =>
      (await call('GET', `/admin/gateway-requests/pending?q=${encodeURIComponent(q)}`)).json().length
    expect([await found('gateway 3'), await found('3%'), await found('_'), await found('198.51.100')]).toEqual([
      1, 1, 0, 5,
    ])
    const odd = await call('GET', '/admin/gateway-requests/pending?limit=2&cursor=zzzz')
    expect([odd.statusCode, odd.json().fieldErrors]).toEqual([400, { cursor: 'This is not a cursor' }])
  })
})
