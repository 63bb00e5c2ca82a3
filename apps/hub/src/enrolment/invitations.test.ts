import * as contract from '@hedgerow/contract'
import type { GatewayInvitation, ResponseOf } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const PASSWORD = 'gravel-lantern-42'

describe.each(testEngines)('an invitation on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let admin: string
  let manager: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    ;[admin, manager] = [await hub.signIn('admin'), await hub.signIn('manager')]
    await hub.addUser('rosa', 'user', PASSWORD)
  })
  afterEach(() => hub.stop())

  type Made = ResponseOf<typeof contract.createGatewayInvitation>
  const invite = async (wanted: object, token = admin) =>
    (await api(contract.createGatewayInvitation, { token, body: { label: 'Spring', ...wanted } })).body as Made
  const labels = (csv: string, token = admin, more: object = {}) =>
    api(contract.createGatewayLabels, { token, body: { csv, ...more } })
  const device = (name: string, from = '198.51.100.7') => createTestDevice(hub.app, { now: hub.clock.now, name, from })
  const join = async (code: string, name = 'a-host', from?: string) =>
    (await device(name, from).register({}, code)).body
  const gateways = async () =>
    ((await api(contract.listGateways, { token: admin })).body as contract.Gateway[]).map(
      ({ name, location, tags, owner }) => ({ name, location, tags, owner }),
    )
  const arrivals = async (of: string, token = admin) =>
    (await api(contract.listArrivals, { token, query: { of } })).body as contract.Arrival[]

  describe('for gateways', () => {
    it('gives them its name, site, tags and owner', async () => {
      const preset = { name: 'Hen house', location: 'Hill farm', tags: ['north', 'hens'], owner: 'rosa', maxUses: 2 }
      const { code, invitation } = await invite(preset)
      expect(invitation).toMatchObject({ ...preset, tags: ['hens', 'north'], approves: true })
      expect((await join(code)).status).toBe('approved')
      expect((await join(code)).status).toBe('approved')
      const common = { location: 'Hill farm', tags: ['hens', 'north'], owner: 'rosa' }
      expect(await gateways()).toEqual([
        { name: 'Hen house', ...common },
        { name: 'Hen house 2', ...common },
      ])
      const listed = (await api(contract.listGatewayInvitations, { token: admin })).body as GatewayInvitation[]
      expect(listed).toEqual([{ ...invitation, uses: 2, status: 'used_up' }])
    })

    it('leaves what the device says where it has nothing', async () => {
      const { code } = await invite({})
      await join(code, 'Barn')
      expect(await gateways()).toEqual([{ name: 'Barn', location: 'North field', tags: [], owner: null }])
    })

    it('can leave the approval to a person, who gives the same', async () => {
      const { code } = await invite({ name: 'Hen house', tags: ['hens'], owner: 'rosa', approves: false })
      const { registrationId, status } = await join(code)
      expect([status, await gateways()]).toEqual(['pending', []])
      await api(contract.approveRegistration, { token: manager, params: { registrationId } })
      expect(await gateways()).toMatchObject([{ name: 'Hen house', tags: ['hens'], owner: 'rosa' }])
    })

    it('gives nothing after it was revoked, was used up or has ended', async () => {
      const preset = { location: 'Hill farm', tags: ['hens'], owner: 'rosa' }
      const revoked = await invite(preset)
      await api(contract.revokeGatewayInvitation, { token: manager, params: { id: revoked.invitation.id } })
      const used = await invite(preset)
      await join(used.code, 'The first')
      const ended = await invite({ ...preset, expiresInHours: 1 })
      hub.clock.advance(3_600_001)
      ;[admin, manager] = [await startAgain('late-admin', 'admin'), await startAgain('late-manager', 'manager')]
      for (const { code } of [revoked, used, ended]) {
        const { registrationId, status } = await join(code, 'Stranger')
        expect(status).toBe('pending')
        await api(contract.approveRegistration, { token: manager, params: { registrationId } })
      }
      const strangers = (await gateways()).filter(({ name }) => name.startsWith('Stranger'))
      expect(strangers).toHaveLength(3)
      for (const one of strangers) expect(one).toMatchObject({ location: 'North field', tags: [], owner: null })
    })

    it('names an owner only who may: an admin everybody, a manager nobody else', async () => {
      const tried = async (owner: string, token: string) =>
        (await api(contract.createGatewayInvitation, { token, body: { label: 'Spring', owner } })).body
      expect(await tried('rosa', manager)).toMatchObject({ error: 'role_required' })
      expect(await tried('nobody-here', manager)).toMatchObject({ error: 'role_required' })
      expect(await tried('nobody-here', admin)).toMatchObject({ error: 'user_not_found' })
      expect(await tried('the-manager', manager)).toMatchObject({ invitation: { owner: 'the-manager' } })
      await hub.db.updateTable('users').set({ active: 0 }).where('username', '=', 'rosa').execute()
      expect(await tried('rosa', admin)).toMatchObject({ error: 'user_not_found' })
    })

    it('has no owner any more when that user is deleted, and still lets in', async () => {
      const { code } = await invite({ owner: 'rosa' })
      await hub.db.deleteFrom('users').where('username', '=', 'rosa').execute()
      expect((await join(code)).status).toBe('approved')
      expect(await gateways()).toMatchObject([{ owner: null }])
    })

    it('lets a whole site in at once', async () => {
      hub.clock.freeze()
      const { code } = await invite({ maxUses: 100 })
      const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => join(code, `Device ${i}`)))
      expect(answers.filter(({ status }) => status === 'approved')).toHaveLength(100)
    })

    it('is no invitation for people, and theirs is none for gateways', async () => {
      const { code } = await invite({})
      const { body: person } = await api(contract.createUserInvitation, { token: admin, body: { role: 'admin' } })
      const account = { username: 'mallory', password: PASSWORD, firstName: 'M', lastName: 'M', email: 'm@example.org' }
      const registered = await api(contract.registerAccount, { body: { ...account, inviteCode: code } })
      expect(registered.body).toMatchObject({ error: 'invite_code_invalid' })
      expect((await join((person as { code: string }).code)).status).toBe('pending')
    })

    it('cannot be guessed: one source soon has to wait, whatever it sends', async () => {
      hub.clock.freeze()
      const guess = async (i: number) => join(`AAAA-${i}`, `Guess ${i}`, '203.0.113.66')
      const { code } = await invite({ maxUses: 9 })
      for (let i = 0; i < 60; i++) expect(await guess(i)).toMatchObject({ status: 'pending' })
      expect(await guess(60)).toMatchObject({ error: 'too_many_requests' })
      expect(await join(code, 'Right', '203.0.113.66'), 'a right one is refused too').toMatchObject({
        error: 'too_many_requests',
      })
      expect((await join(code, 'Barn', '192.0.2.9')).status, 'from elsewhere').toBe('approved')
      hub.clock.advance(10_000)
      expect((await join(code, 'Right', '203.0.113.66')).status).toBe('approved')
      hub.clock.advance(10_000)
      expect((await join(code, 'Again', '203.0.113.66')).status, 'no try is lost').toBe('approved')
    })
  })

  describe('for each line of a file', () => {
    const linesOf = async (csv: string, token = admin) => {
      const { body } = await labels(csv, token)
      const { error, fieldErrors } = body as { error?: string; fieldErrors?: Record<string, string> }
      return { error, ...fieldErrors }
    }
    const made = async () => (await hub.db.selectFrom('gateway_invitations').select('id').execute()).length

    it('has a code of its own, for one gateway with its name, site, tags and owner', async () => {
      const csv =
        '\uFEFFName;Site;Tags;Owner\r\nHen house;Hill farm;"hens, north";rosa\r\n\r\n"Gate ""East""";Mill;;\r\n'
      const { body } = await labels(csv, admin, { expiresInHours: 24 })
      const sheet = body as ResponseOf<typeof contract.createGatewayLabels>
      expect(sheet.labels.map(({ invitation }) => invitation)).toMatchObject([
        { label: 'Hen house', name: 'Hen house', location: 'Hill farm', tags: ['hens', 'north'], owner: 'rosa' },
        { label: 'Gate "East"', name: 'Gate "East"', location: 'Mill', tags: [], owner: null, maxUses: 1 },
      ])
      expect(new Set(sheet.labels.map(({ code }) => code)).size).toBe(2)
      for (const { code, command } of sheet.labels) expect(command).toContain(code)
      await join(sheet.labels[1]!.code)
      expect(await gateways()).toEqual([{ name: 'Gate "East"', location: 'Mill', tags: [], owner: null }])
      const audit = await hub.db.selectFrom('audit').selectAll().where('action', 'like', 'gateway-labels%').execute()
      expect(audit).toMatchObject([{ actor: 'the-admin', target: '2' }])
      const stored = JSON.stringify([
        await hub.db.selectFrom('gateway_invitations').selectAll().execute(),
        await hub.db.selectFrom('facts').selectAll().execute(),
      ])
      for (const { code } of sheet.labels)
        for (const text of [code, code.replaceAll('-', '')]) expect(stored).not.toContain(text)
    })

    it('names every wrong line with a code, and then makes nothing', async () => {
      const { code } = await invite({ name: 'Taken' })
      await join(code)
      const before = await made()
      const csv = [
        'owner,name,site',
        'rosa,Good,Hill',
        'nobody-here,Fox den,Hill',
        ',,Hill',
        ',good,Mill',
        ',TAKEN,Mill',
        `,Long site,${'x'.repeat(201)}`,
        ',Wide,Mill,more',
        ',"Two\nlines",Mill',
        ',Last,Mill',
      ].join('\n')
      expect(await linesOf(csv)).toEqual({
        error: 'labels_invalid',
        'line 3': expect.stringMatching(/^user_not_found: No active user has the name "[\w-]+"\.$/),
        'line 4': 'invalid_request: name: Enter a name',
        'line 5': 'gateway_name_taken: Line 2 has this name.',
        'line 6': 'gateway_name_taken: A gateway has this name already.',
        'line 7': expect.stringMatching(/^invalid_request: site: /),
        'line 8': 'invalid_request: The line has more than 3 columns.',
        'line 9': expect.stringMatching(/^invalid_request: name: /),
      })
      expect(await made()).toBe(before)
    })

    it('may not make somebody else the owner by the file of a manager', async () => {
      expect(await linesOf('Hen house,,,rosa', manager)).toMatchObject({
        'line 1': expect.stringMatching(/^role_required: /),
      })
      expect((await labels('Hen house,,,the-manager', manager)).status).toBe(200)
    })

    it.each([
      ['', 'line 1', /^invalid_request: No line/],
      ['name,site', 'line 1', /^invalid_request: No line/],
      ['name,colour\nA,red', 'line 1', /^invalid_request: A column is/],
      ['A,"open', 'line 1', /^invalid_request: A quotation mark/],
      [
        Array.from({ length: 201 }, (_, i) => `G${i}`).join('\n'),
        'line 201',
        /^invalid_request: A file has at most 200/,
      ],
      ['A,,a:b', 'line 1', /^invalid_request: tags: A tag is one word/],
      ['A,,,x y', 'line 1', /^invalid_request: owner: /],
    ])('refuses %j', async (csv, line, message) => {
      expect(await linesOf(csv)).toMatchObject({ error: 'labels_invalid', [line]: expect.stringMatching(message) })
      expect(await made()).toBe(0)
    })
  })

  it('tells what came with it: waiting, approved and rejected, but no deleted gateway', async () => {
    hub.clock.freeze()
    const one = await invite({ approves: false, maxUses: 9 })
    const other = await invite({ name: 'Hen house' })
    await join((await invite({})).code, 'Somebody else’s')
    const waiting = await join(one.code, 'Waits')
    const refused = await join(one.code, 'Refused')
    await api(contract.rejectRegistration, {
      token: manager,
      params: { registrationId: refused.registrationId },
      body: { reason: 'Not ours' },
    })
    await join(other.code)
    const ids = `${one.invitation.id},${other.invitation.id}`
    const found = await arrivals(ids, manager)
    expect(found.map(({ name, status }) => [name, status])).toEqual(
      expect.arrayContaining([
        ['Waits', 'pending'],
        ['Refused', 'rejected'],
        ['Hen house', 'approved'],
      ]),
    )
    expect(found).toHaveLength(3)
    expect(found.find(({ name }) => name === 'Waits')).toEqual({
      invitationId: one.invitation.id,
      registrationId: waiting.registrationId,
      name: 'Waits',
      status: 'pending',
      fingerprint: expect.stringMatching(/^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/),
      requestedAt: new Date(hub.clock.now()).toISOString(),
      decidedAt: null,
      gatewayId: null,
    })
    const { gatewayId } = found.find(({ name }) => name === 'Hen house')!
    await api(contract.deleteGateway, { token: admin, params: { id: gatewayId! }, body: { name: 'Hen house' } })
    expect((await arrivals(ids)).map(({ name }) => name).toSorted()).toEqual(['Refused', 'Waits'])
    const user = await startAgain('emil', 'user')
    expect(await arrivals(ids, user)).toMatchObject({ error: 'role_required' })
    expect(await arrivals(`${ids},x' or 1=1`)).toMatchObject({ error: 'invalid_request' })
  })

  async function startAgain(username: string, role: contract.Role): Promise<string> {
    const id = await hub.addUser(username, role, PASSWORD)
    return hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
  }
})
