import { createSocket } from 'node:dgram'
import * as contract from '@hedgerow/contract'
import type { ActivityEntry, HubUser } from '@hedgerow/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resetPassword } from '../accounts/accounts.ts'
import { createTestApi } from '#testing/api.ts'
import { RENEWED_AHEAD_MS } from '../certificates/certificates.ts'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

const PASSWORD = 'gravel-lantern-42'

describe.each(testEngines)('activity on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  beforeAll(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    token = await hub.signIn('admin')
  })
  afterAll(() => hub.stop())

  const entries = async (as = token) => (await api(contract.recentActivity, { token: as })).body as ActivityEntry[]
  /** Returns the entries that `act` adds, oldest first. */
  const toldBy = async (act: () => Promise<unknown>) => {
    const before = new Set((await entries()).map(({ id }) => id))
    await act()
    return (await entries())
      .filter(({ id }) => !before.has(id))
      .map(({ message }) => message)
      .toReversed()
  }
  const person = {
    username: 'gardener',
    email: 'gardener@example.org',
    firstName: '',
    lastName: '',
    role: 'user' as const,
    active: true,
  }

  test('a user: added, changed in relevant fields, deleted', async () => {
    let user: HubUser | undefined
    const update = (change: object) => () =>
      api(contract.updateUser, { token, params: { id: user!.id }, body: { ...person, username: 'keeper', ...change } })
    const add = async () => {
      user = (await api(contract.createUser, { token, body: { ...person, password: PASSWORD } })).body as HubUser
    }
    expect(await toldBy(add)).toEqual(['User "gardener" was added by the-admin as user'])
    expect(await toldBy(update({}))).toEqual(['User "keeper" was renamed from "gardener" by the-admin'])
    expect(await toldBy(update({ firstName: 'Ada' }))).toEqual([])
    expect(await toldBy(update({ role: 'manager', active: false }))).toEqual([
      'User "keeper" was made manager, deactivated by the-admin',
    ])
    expect(await toldBy(update({ role: 'manager', active: true, password: 'thistle-harbour-77' }))).toEqual([
      'User "keeper" was activated, given a new password by the-admin',
    ])
    expect(await toldBy(() => api(contract.resetUserTwoFactor, { token, params: { id: user!.id } }))).toEqual([
      'Two-factor sign-in of "keeper" was reset by the-admin',
    ])
    expect(await toldBy(() => resetPassword(hub.db, hub.passwords, 'keeper', PASSWORD))).toEqual([
      `User "keeper" was given a new password on the hub's command line`,
    ])
    expect(await toldBy(() => api(contract.deleteUser, { token, params: { id: user!.id } }))).toEqual([
      'User "keeper" was deleted by the-admin',
    ])
  })

  test('a refused change adds nothing', async () => {
    expect(
      await toldBy(() =>
        api(contract.createUser, { token, body: { ...person, username: 'the-admin', password: PASSWORD } }),
      ),
    ).toEqual([])
    expect(await toldBy(() => api(contract.editHubSettings, { token, body: { vpnNetwork: 'none' } }))).toEqual([])
  })

  test('invitations: made and revoked', async () => {
    let id = ''
    const invite =
      (call: typeof contract.createUserInvitation | typeof contract.createGatewayInvitation) => async () => {
        const { body } = await api(call, { token, body: { label: 'Spring' } })
        id = (body as { invitation: { id: string } }).invitation.id
      }
    expect(await toldBy(invite(contract.createUserInvitation))).toEqual([
      'User invitation "Spring" as user was made by the-admin',
    ])
    expect(await toldBy(() => api(contract.revokeUserInvitation, { token, params: { id } }))).toEqual([
      'User invitation "Spring" as user was revoked by the-admin',
    ])
    expect(await toldBy(invite(contract.createGatewayInvitation))).toEqual([
      'Gateway invitation "Spring" was made by the-admin',
    ])
    const revoke = () => api(contract.revokeGatewayInvitation, { token, params: { id } })
    expect(await toldBy(revoke)).toEqual(['Gateway invitation "Spring" was revoked by the-admin'])
    expect(await toldBy(revoke), 'revoking again').toEqual([])
  })

  test('settings: the changed ones, and a VPN change that was undone', async () => {
    const save = (body: object) => () => api(contract.editHubSettings, { token, body })
    expect(await toldBy(save({ hubName: 'Orchard', openRegistration: false }))).toEqual([
      'Settings of the hub were changed by the-admin: hub name, open registration off',
    ])
    expect(await toldBy(save({ hubName: 'Orchard' })), 'nothing changed').toEqual([])
    await save({ enableVpn: false })()
    const occupant = createSocket('udp6')
    await new Promise<void>((resolve) => occupant.bind(hub.vpn.port, '::', resolve))
    expect(await toldBy(save({ enableVpn: true }))).toEqual([
      'Settings of the hub were changed by the-admin: VPN on',
      'The VPN could not start with its new settings: the hub put the old ones back',
    ])
    await new Promise<void>((resolve) => void occupant.close(resolve))
    const audited = await hub.db.selectFrom('audit').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    expect(audited).toMatchObject({
      actor: 'hub',
      action: 'settings.change',
      target: 'enableVpn vpnNetwork',
      reason: 'VPN: on → off',
    })
  })

  test('the auto-approval settings', async () => {
    expect(await toldBy(() => api(contract.editAutoApprovalSettings, { token, body: { enabled: false } }))).toEqual([
      'The auto-approval settings were changed by the-admin',
    ])
  })

  test('a certificate renewed by a person, and one renewed by the hub', async () => {
    expect(await toldBy(() => api(contract.renewCertificate, { token, params: { id: 'hub-ca' } }))).toEqual([
      'Hub CA was renewed by the-admin',
    ])
    const { expiresAt } = hub.certificates.list()[1]!
    hub.clock.advance(Date.parse(expiresAt) - RENEWED_AHEAD_MS - hub.clock.now() + 60_000)
    token = await hub.sessions.start(
      await hub.db.selectFrom('users').select('id').where('username', '=', 'the-admin').executeTakeFirstOrThrow(),
      { sourceIp: '', userAgent: '' },
    )
    expect(await toldBy(() => hub.certificates.renewDue())).toEqual(['Hub TLS certificate was renewed by the hub'])
    const audited = await hub.db.selectFrom('audit').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    expect(audited).toMatchObject({ actor: 'hub', action: 'certificate.renew', target: 'hub-tls', result: 'ok' })
  })

  test('managers see all of it, a user nothing', async () => {
    const as = async (username: string, role: 'user' | 'manager') =>
      hub.sessions.start({ id: await hub.addUser(username, role, PASSWORD) }, { sourceIp: '', userAgent: '' })
    expect((await entries(await as('overseer', 'manager'))).length).toBeGreaterThan(10)
    expect(await entries(await as('neighbour', 'user'))).toEqual([])
  })
})
