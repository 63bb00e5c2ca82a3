import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as contract from '@hedgerow/contract'
import type { HubUser, Role, Session } from '@hedgerow/contract'
import { generate } from 'otplib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi, type Answer } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { answerJson, serveDoor } from '#testing/door.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { putRelease } from '#testing/release.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { policy } from '../access/policy.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { providerSettings, startSignInProvider, type SignInProvider } from '#testing/sign-in-provider.ts'
import { createTestDevice } from '#testing/device.ts'
import { auditWords } from '@hedgerow/contract/audit-answers'
import { createRefusedCalls } from './refused-calls.ts'
import { makePushKeys } from '../notifications/web-push.ts'
import { storeDetections } from '../detections/detections.ts'

/** Nothing listens there. */
const HUB_URL = 'http://127.0.0.1:9'
const PASSWORD = 'gravel-lantern-42'
const HOUR_MS = 3_600_000

/** The audit actions of each call except GET when it succeeds, and of the few GETs that leave one. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  'POST /v1/auth/login': ['session.start'],
  'POST /v1/auth/login/two-factor': ['two-factor.use-recovery-code', 'session.start'],
  'POST /v1/auth/logout': ['session.end'],
  'DELETE /v1/auth/sessions/:id': ['session.end'],
  'POST /v1/auth/providers/:provider/complete': ['user.register', 'provider.link', 'session.start'],
  'POST /v1/auth/providers/:provider/back-channel-logout': ['session.end'],
  'POST /v1/auth/providers/logout': ['session.end'],
  'POST /v1/auth/provider-links': ['provider.link'],
  'DELETE /v1/auth/provider-links/:id': ['provider.unlink'],
  'POST /v1/auth/register': ['user.register'],
  'PUT /v1/auth/profile': ['profile.update'],
  'PATCH /v1/auth/profile': ['profile.update'],
  'POST /v1/auth/password': ['user.change-password'],
  'POST /v1/auth/two-factor/setup': ['two-factor.set-up'],
  'POST /v1/auth/two-factor/enable': ['two-factor.enable'],
  'POST /v1/auth/two-factor/recovery-codes': ['two-factor.renew-recovery-codes'],
  'POST /v1/auth/two-factor/disable': ['two-factor.disable'],
  'POST /v1/auth/password-reset/complete': ['user.reset-password'],
  'POST /v1/auth/tokens': ['token.create'],
  'DELETE /v1/auth/tokens/:id': ['token.revoke'],
  'POST /v1/hub/users': ['user.create'],
  'PUT /v1/hub/users/:id': [
    'user.update',
    'user.change-role',
    'user.deactivate',
    'user.reset-password',
    'user.update',
    'user.activate',
  ],
  'PATCH /v1/hub/users/:id': ['user.update'],
  'DELETE /v1/hub/users/:id/two-factor': ['user.reset-two-factor'],
  'DELETE /v1/hub/users/:id': ['user.delete'],
  'POST /v1/admin/user-invitations': ['user-invitation.create'],
  'DELETE /v1/admin/user-invitations/:id': ['user-invitation.revoke'],
  'POST /v1/hub/gateways': ['gateway.add'],
  'PUT /v1/hub/gateways/:id': ['gateway.edit'],
  'PATCH /v1/hub/gateways/:id': ['gateway.edit'],
  'POST /v1/hub/sites': ['site.add'],
  'PATCH /v1/hub/sites/:id': ['site.rename', 'site.edit'],
  'POST /v1/hub/gateways/site': ['gateway.change-site'],
  'DELETE /v1/hub/sites/:id': ['gateway.change-site', 'site.delete'],
  'GET /v1/hub/gateways/:id/vpn-config': ['gateway.read-vpn-config'],
  'POST /v1/hub/gateways/tags': ['gateway.tag'],
  'DELETE /v1/hub/gateways/:id': ['gateway.delete'],
  'PUT /v1/auth/alert-preferences': ['profile.update'],
  'PATCH /v1/auth/alert-preferences': ['profile.update'],
  'POST /v1/auth/push': ['push.subscribe'],
  'DELETE /v1/auth/push/:id': ['push.unsubscribe'],
  'POST /v1/hub/alerts/:id/acknowledge': ['alert.acknowledge'],
  'POST /v1/alert-links/acknowledge': ['alert.acknowledge'],
  'POST /v1/hub/alert-rules': ['alert-rule.save'],
  'PUT /v1/hub/alert-rules/:id': ['alert-rule.save'],
  'PATCH /v1/hub/alert-rules/:id': ['alert-rule.save'],
  'DELETE /v1/hub/alert-rules/:id': ['alert-rule.delete'],
  'POST /v1/hub/incidents/review': ['incident.review'],
  'POST /v1/hub/incidents/review/undo': ['incident.undo-review'],
  'GET /v1/hub/incidents/export': ['incident.export'],
  'POST /v1/hub/gateways/:id/commands/fire': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/stop': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/arm': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/disarm': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/snooze': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/end-snooze': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/maintenance': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/end-maintenance': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/undo-learning': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/learn-now': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/undo-names': ['command.give', 'command.end'],
  'POST /v1/hub/gateways/:id/commands/use-names': ['command.give', 'command.end'],
  'POST /v1/hub/updates': ['update.ask'],
  'POST /v1/hub/updates/resume': ['rollout.resume'],
  'POST /v1/hub/updates/stop': ['rollout.stop'],
  'POST /v1/hub/updates/skip': ['update.skip'],
  'PUT /v1/hub/updates/site': ['site-updates.change'],
  'PATCH /v1/hub/updates/site': ['site-updates.change'],
  'POST /v1/gateway/claim': ['gateway.claim'],
  'POST /v1/gateway/register': ['registration.request'],
  'POST /v1/admin/gateway-requests/:registrationId/approve': ['registration.approve'],
  'POST /v1/admin/gateway-requests/:registrationId/reject': ['registration.reject'],
  'POST /v1/admin/gateway-requests/reject-source': ['registration.reject-source'],
  'POST /v1/admin/gateway-requests/:registrationId/lift': ['registration.lift'],
  'POST /v1/admin/gateway-invitations': ['gateway-invitation.create'],
  'POST /v1/admin/gateway-invitations/labels': ['gateway-labels.create'],
  'DELETE /v1/admin/gateway-invitations/:id': ['gateway-invitation.revoke'],
  'POST /v1/admin/auto-approval/settings': ['auto-approval.change'],
  'PATCH /v1/admin/auto-approval/settings': ['auto-approval.change'],
  'PUT /v1/admin/channels/:name': ['channel.change'],
  'PATCH /v1/admin/channels/:name': ['channel.change'],
  'POST /v1/admin/notifications/test': ['notification.test'],
  'POST /v1/admin/deliveries/:id/send-again': ['notification.send-again'],
  'PUT /v1/hub/settings': ['settings.change'],
  'PATCH /v1/hub/settings': ['settings.change'],
  'POST /v1/hub/certificates/:id/renew': ['certificate.renew'],
}

/** Calls except GET that leave no entry, with the reason. */
const UNRECORDED: Readonly<Record<string, string>> = {
  'POST /v1/auth/password-reset': 'answers before it looks; a link that is sent has the entry password-reset.send',
  'POST /v1/auth/renew': 'continues a session whose start is recorded',
  'POST /v1/auth/providers/:provider/begin': 'changes nothing: the hub stores nothing of it',
  'POST /v1/gateway/validate-access': 'changes nothing: it asks for permission',
  'POST /v1/gateway/:id/ui-ticket': 'the handover itself has the entry gateway.open',
  'POST /v1/admin/auto-approval/test': 'changes nothing: it is a preview',
  'POST /v1/hub/alert-rules/preview': 'changes nothing: it is a preview',
  'POST /v1/auth/push/:id/test': 'a test message to a browser of the caller',
  'POST /v1/hub/notices/read': 'the caller has read their own notices',
  'POST /v1/alert-links/read': 'changes nothing: programs that preview links open it',
  'POST /v1/gateway/register/challenge': 'changes nothing: the hub stores nothing of it',
  'POST /v1/hub/gateways/:id/detections/:detectionId/clip-link': 'changes nothing: it reads a clip',
  'POST /v1/hub/saved-views': 'a shortcut of a person, for themselves',
  'DELETE /v1/hub/saved-views/:id': 'a shortcut of a person, for themselves',
  'POST /v1/gateway/reviews': 'changes nothing: a gateway asks for what people said',
  'POST /v1/gateway/second-look': 'changes nothing but the count of pictures: a gateway asks what one shows',
  'POST /v1/gateway/register/:registrationId/status': 'changes nothing: it is a signed read',
  'POST /v1/gateway/heartbeat': 'every 30 s from every gateway; status changes are in activity and history',
  'POST /v1/gateway/detections': 'data, not a decision; stored as detections',
  'POST /v1/gateway/ledger': 'data, not a decision; what people did at the device has an entry',
}

/** Written only on refusals; each has a test below. */
const REFUSED_ONLY: readonly string[] = ['identity.confirm', 'call.make']
/** Of a link that is sent, a handover to a gateway's origin, what a device's ledger tells, and the command line. */
const WITHOUT_CALL: readonly string[] = [
  'password-reset.send',
  'gateway.open',
  'device.use',
  'device.save-file',
  'user.allow-local-sign-in',
]

describe('the policy', () => {
  test('has for each call except GET either its audit actions or the reason why there is none', () => {
    const changing = Object.keys(policy).filter((call) => !call.startsWith('GET '))
    const named = [...Object.keys(ACTIONS), ...Object.keys(UNRECORDED)]
    expect(named.filter((call) => !call.startsWith('GET ')).toSorted()).toEqual(changing.toSorted())
    expect(named.filter((call) => !(call in policy))).toEqual([])
  })

  test('has no action without a call', () => {
    expect(new Set([...Object.values(ACTIONS).flat(), ...REFUSED_ONLY, ...WITHOUT_CALL])).toEqual(
      new Set(Object.keys(auditWords)),
    )
  })
})

describe.each(testEngines)('the audit on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let admin: string
  let house: SignInProvider
  let lastId = 0
  const driven = new Set<string>()
  const downloadsDir = mkdtempSync(join(tmpdir(), 'hub-audit-'))
  beforeAll(async () => {
    // Nothing listens there.
    const webhook = { url: 'http://127.0.0.1:9/', secret: 'a secret for webhooks' }
    house = await startSignInProvider(HUB_URL)
    const providers = [providerSettings('first', house.issuer)]
    hub = await startTestHub(engine, { notifications: { webhook }, downloadsDir, publicUrl: HUB_URL, providers })
    api = createTestApi(hub)
    admin = await hub.signIn('admin')
  })
  afterAll(async () => {
    await hub.stop()
    await house.stop()
    rmSync(downloadsDir, { recursive: true })
  })

  const newEntries = async () => {
    const rows = await hub.db.selectFrom('audit').selectAll().where('id', '>', lastId).orderBy('id').execute()
    lastId = rows.at(-1)?.id ?? lastId
    return rows
  }
  /** Makes calls of one line of the policy; they succeed and leave the entries that the table names. */
  async function leaves<T = Answer['body']>(
    call: string,
    ...acts: (() => Promise<{ status: number; body: unknown }>)[]
  ) {
    await newEntries()
    let body: unknown
    for (const act of acts) {
      const answer = await act()
      expect([200, 202, 204], `${call}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
      body = answer.body
    }
    const entries = await newEntries()
    expect(
      entries.map(({ action }) => action),
      call,
    ).toEqual(ACTIONS[call])
    for (const entry of entries) {
      expect(entry, call).toMatchObject({ result: 'ok', source_ip: expect.stringMatching(/^\d+(\.\d+){3}$/) })
      expect(entry.actor, call).not.toBe('')
    }
    driven.add(call)
    return body as T
  }
  const person = (username: string, more: object = {}) => ({
    username,
    email: `${username}@example.org`,
    firstName: '',
    lastName: '',
    role: 'user' as Role,
    active: true,
    ...more,
  })
  const tokenOf = async (username: string) => {
    const { id } = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', username)
      .executeTakeFirstOrThrow()
    return hub.sessions.start({ id }, { sourceIp: '', userAgent: '' })
  }

  test('has an entry for each call of the table', async () => {
    // Their own account.
    const made = await leaves<{ invitation: { id: string }; code: string }>('POST /v1/admin/user-invitations', () =>
      api(contract.createUserInvitation, { token: admin, body: { label: 'Spring', maxUses: 2 } }),
    )
    await leaves('POST /v1/auth/register', () =>
      api(contract.registerAccount, {
        body: {
          username: 'rosa',
          email: 'rosa@example.org',
          password: PASSWORD,
          firstName: 'Rosa',
          lastName: 'Berg',
          inviteCode: made.code,
        },
      }),
    )
    await leaves('DELETE /v1/admin/user-invitations/:id', () =>
      api(contract.revokeUserInvitation, { token: admin, params: { id: made.invitation.id } }),
    )
    const signIn = () => api(contract.login, { body: { username: 'rosa', password: PASSWORD } })
    let { accessToken: token } = await leaves<{ accessToken: string }>('POST /v1/auth/login', signIn)
    await leaves('PUT /v1/auth/profile', () =>
      api(contract.saveProfile, {
        token,
        body: { email: 'rosa@example.net', firstName: 'Rosa', lastName: '', currentPassword: PASSWORD },
      }),
    )
    await leaves('PATCH /v1/auth/profile', () => api(contract.editProfile, { token, body: { lastName: 'Berg' } }))
    const other = await tokenOf('rosa')
    const sessions = (await api(contract.listSessions, { token })).body as Session[]
    const { id: otherSession } = sessions.find(({ current }) => !current)!
    await leaves('DELETE /v1/auth/sessions/:id', () =>
      api(contract.endSession, { token, params: { id: otherSession } }),
    )
    expect((await api(contract.validateSession, { token: other })).status).toBe(401)
    ;({ accessToken: token } = await leaves<{ accessToken: string }>('POST /v1/auth/password', () =>
      api(contract.changePassword, { token, body: { currentPassword: PASSWORD, newPassword: `${PASSWORD}-new` } }),
    ))
    const { secret } = await leaves<{ secret: string }>('POST /v1/auth/two-factor/setup', () =>
      api(contract.setUpTwoFactor, { token, body: { password: `${PASSWORD}-new` } }),
    )
    const code = await generate({ secret, epoch: Math.floor(hub.clock.now() / 1_000) })
    const { recoveryCodes } = await leaves<{ recoveryCodes: string[] }>('POST /v1/auth/two-factor/enable', () =>
      api(contract.enableTwoFactor, { token, body: { code } }),
    )
    const from = '198.51.100.9'
    const begin = await api(contract.login, { from, body: { username: 'rosa', password: `${PASSWORD}-new` } })
    const { challenge } = begin.body as { challenge: string }
    await leaves('POST /v1/auth/login/two-factor', () =>
      api(contract.loginTwoFactor, { from, body: { challenge, code: recoveryCodes[0]! } }),
    )
    const renewed = await leaves<{ recoveryCodes: string[] }>('POST /v1/auth/two-factor/recovery-codes', () =>
      api(contract.renewRecoveryCodes, { token, body: { password: `${PASSWORD}-new`, code: recoveryCodes[1]! } }),
    )
    await leaves('POST /v1/auth/two-factor/disable', () =>
      api(contract.disableTwoFactor, {
        token,
        body: { password: `${PASSWORD}-new`, code: renewed.recoveryCodes[0]! },
      }),
    )
    const { details } = await leaves<{ details: contract.ApiToken }>('POST /v1/auth/tokens', () =>
      api(contract.createToken, { token, body: { name: 'backup', password: `${PASSWORD}-new` } }),
    )
    await leaves('DELETE /v1/auth/tokens/:id', () => api(contract.revokeToken, { token, params: { id: details.id } }))
    await leaves('POST /v1/auth/logout', () => api(contract.logout, { token }))

    // At a provider.
    const at = { provider: 'first' }
    const visit = async (name: string) => {
      house.people.set(name, { preferred_username: name, groups: ['family'] })
      const { url, ticket } = (await api(contract.beginProviderSignIn, { params: at })).body as Record<string, string>
      return { ticket, answer: await house.visit(url!, name) }
    }
    const answer = await visit('nora')
    const complete = () => api(contract.completeProviderSignIn, { params: at, body: answer })
    const { accessToken: nora } = await leaves<{ accessToken: string }>(
      'POST /v1/auth/providers/:provider/complete',
      complete,
    )
    await leaves('POST /v1/auth/providers/logout', () => api(contract.logoutAtProvider, { token: nora }))
    await api(contract.completeProviderSignIn, { params: at, body: await visit('nora') })
    await leaves('POST /v1/auth/providers/:provider/back-channel-logout', async () => {
      const response = await hub.app.inject({
        method: 'POST',
        url: `${contract.API_BASE}/v1/auth/providers/first/back-channel-logout`,
        payload: new URLSearchParams({ logout_token: await house.logoutToken('nora') }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      return { status: response.statusCode, body: undefined }
    })
    await hub.addUser('paul', 'user', PASSWORD)
    const linking = await api(contract.completeProviderSignIn, { params: at, body: await visit('paul') })
    const paul = await tokenOf('paul')
    await leaves('POST /v1/auth/provider-links', () =>
      api(contract.linkProvider, { token: paul, body: linking.body as { link: string } }),
    )
    const [{ id: linkId }] = (await api(contract.listProviderLinks, { token: paul })).body as [{ id: string }]
    await leaves('DELETE /v1/auth/provider-links/:id', () =>
      api(contract.unlinkProvider, { token: paul, params: { id: linkId } }),
    )

    // Other people's.
    const emil = await leaves<HubUser>('POST /v1/hub/users', () =>
      api(contract.createUser, { token: admin, body: person('emil', { password: PASSWORD }) }),
    )
    const params = { id: emil.id }
    await leaves(
      'PUT /v1/hub/users/:id',
      () =>
        api(contract.updateUser, {
          token: admin,
          params,
          body: person('emil', { role: 'manager', active: false, password: `${PASSWORD}-new` }),
        }),
      () => api(contract.updateUser, { token: admin, params, body: person('emil', { role: 'manager' }) }),
    )
    await leaves('PATCH /v1/hub/users/:id', () =>
      api(contract.editUser, { token: admin, params, body: { firstName: 'Emil' } }),
    )
    await leaves('DELETE /v1/hub/users/:id/two-factor', () =>
      api(contract.resetUserTwoFactor, { token: admin, params }),
    )
    const link = { created_at: hub.clock.now(), expires_at: hub.clock.now() + 60_000 }
    const linkHash = createHash('sha256').update('of a mail').digest('base64')
    await hub.db
      .insertInto('password_resets')
      .values({ ...link, user_id: emil.id, token_hash: linkHash })
      .execute()
    await leaves('POST /v1/auth/password-reset/complete', () =>
      api(contract.completePasswordReset, { body: { token: 'of a mail', newPassword: `${PASSWORD}-third` } }),
    )
    await leaves('DELETE /v1/hub/users/:id', () => api(contract.deleteUser, { token: admin, params }))

    // Gateways.
    const asked = await leaves<{ registrationId: string }>('POST /v1/gateway/register', () =>
      createTestDevice(hub.app, { now: hub.clock.now, name: 'Orchard' }).register(),
    )
    const registration = { registrationId: asked.registrationId }
    await leaves('POST /v1/admin/gateway-requests/:registrationId/reject', () =>
      api(contract.rejectRegistration, { token: admin, params: registration, body: { reason: 'Not ours' } }),
    )
    await leaves('POST /v1/admin/gateway-requests/:registrationId/lift', () =>
      api(contract.liftRejection, { token: admin, params: registration }),
    )
    await leaves('POST /v1/admin/gateway-requests/reject-source', () =>
      api(contract.rejectRegistrationsOfSource, {
        token: admin,
        body: { source: '203.0.113.0/24', reason: 'Not ours' },
      }),
    )
    const barn = (await createTestDevice(hub.app, { now: hub.clock.now }).register()).body.registrationId
    await leaves('POST /v1/admin/gateway-requests/:registrationId/approve', () =>
      api(contract.approveRegistration, { token: admin, params: { registrationId: barn } }),
    )
    const deviceToken = 'DT-0123456789AB'
    const orchard = await insertTestGateway(hub.db, { device_token: deviceToken })
    const startedAt = new Date(hub.clock.now()).toISOString()
    await storeDetections(
      hub.db,
      orchard,
      [{ id: 'a', camera: 'gate', label: 'boar', severity: 'alert', score: 0.9, startedAt }],
      hub.clock.now(),
    )
    const { id: incident } = await hub.db.selectFrom('incidents').select('id').executeTakeFirstOrThrow()
    const [reviewed] = await leaves<{ reviewId: string }[]>('POST /v1/hub/incidents/review', () =>
      api(contract.reviewIncidents, { token: admin, body: { ids: [incident], verdict: 'wrong', label: 'branch' } }),
    )
    await leaves('POST /v1/hub/incidents/review/undo', () =>
      api(contract.undoReviews, { token: admin, body: { reviewIds: [reviewed!.reviewId] } }),
    )
    const { id: alertId } = await hub.db.selectFrom('alerts').select('id').executeTakeFirstOrThrow()
    await leaves('POST /v1/hub/alerts/:id/acknowledge', () =>
      api(contract.acknowledgeAlert, { token: admin, params: { id: alertId } }),
    )
    await hub.db.updateTable('alerts').set({ acknowledged_at: null }).execute()
    const linkToken = hub.alertLinks.make({ alertId, channel: 'ntfy', userId: undefined })
    await leaves('POST /v1/alert-links/acknowledge', () =>
      api(contract.acknowledgeByLink, { body: { token: linkToken } }),
    )
    await leaves('PUT /v1/auth/alert-preferences', () =>
      api(contract.saveAlertPreferences, {
        token: admin,
        body: { language: 'de', quietHours: null, timeZone: 'UTC' },
      }),
    )
    await leaves('PATCH /v1/auth/alert-preferences', () =>
      api(contract.editAlertPreferences, { token: admin, body: { language: 'en' } }),
    )
    const { publicKey: p256dh } = makePushKeys()
    const endpoint = 'https://push.example.net/x'
    const browser = await leaves<{ id: string }>('POST /v1/auth/push', () =>
      api(contract.subscribePush, { token: admin, body: { endpoint, keys: { p256dh, auth: 'A'.repeat(22) } } }),
    )
    await leaves('DELETE /v1/auth/push/:id', () =>
      api(contract.unsubscribePush, { token: admin, params: { id: browser.id } }),
    )
    await leaves('POST /v1/gateway/claim', () => api(contract.claimGateway, { token: admin, body: { deviceToken } }))
    const router = await leaves<{ id: string }>('POST /v1/hub/gateways', () =>
      api(contract.addGateway, { token: admin, body: { name: 'Router' } }),
    )
    const gateway = { id: router.id }
    await leaves('PUT /v1/hub/gateways/:id', () =>
      api(contract.updateGateway, {
        token: admin,
        params: gateway,
        body: { name: 'Gate', location: 'Farm', description: '', tags: [] },
      }),
    )
    await leaves('PATCH /v1/hub/gateways/:id', () =>
      api(contract.editGateway, { token: admin, params: gateway, body: { location: 'Road' } }),
    )
    const site = await leaves<{ id: string }>('POST /v1/hub/sites', () =>
      api(contract.addSite, { token: admin, body: { name: 'Hill' } }),
    )
    await leaves('PATCH /v1/hub/sites/:id', async () => {
      await api(contract.editSite, { token: admin, params: { id: site.id }, body: { name: 'Mill' } })
      return api(contract.editSite, { token: admin, params: { id: site.id }, body: { notes: 'By the road' } })
    })
    await leaves('POST /v1/hub/gateways/site', () =>
      api(contract.assignSite, { token: admin, body: { ids: [router.id], siteId: site.id } }),
    )
    await leaves('PUT /v1/hub/updates/site', () =>
      api(contract.saveSiteUpdates, { token: admin, body: { site: site.id, automatic: false, hours: null } }),
    )
    await leaves('PATCH /v1/hub/updates/site', () =>
      api(contract.editSiteUpdates, { token: admin, body: { site: site.id, automatic: true } }),
    )
    await leaves('DELETE /v1/hub/sites/:id', () => api(contract.deleteSite, { token: admin, params: { id: site.id } }))
    await leaves('POST /v1/hub/gateways/tags', () =>
      api(contract.tagGateways, { token: admin, body: { ids: [router.id], add: ['north'] } }),
    )
    await leaves('GET /v1/hub/gateways/:id/vpn-config', () =>
      api(contract.gatewayVpnConfig, { token: admin, params: gateway }),
    )
    await leaves('GET /v1/hub/incidents/export', async () => {
      const headers = { authorization: `Bearer ${admin}` }
      const { statusCode } = await hub.app.inject({ url: '/api/v1/hub/incidents/export', headers })
      return { status: statusCode, body: undefined }
    })
    await leaves('DELETE /v1/hub/gateways/:id', () =>
      api(contract.deleteGateway, { token: admin, params: gateway, body: { name: 'Gate' } }),
    )

    const joined = await joinedGateway(hub, { authorization: `Bearer ${admin}` }, 'Mill')
    const door = serveDoor(joined.peer)
    const to = { token: admin, params: { id: joined.gatewayId } }
    await leaves('POST /v1/hub/gateways/:id/commands/fire', () =>
      api(contract.fireDeterrent, { ...to, body: { deterrent: 'sprinkler' } }),
    )
    await leaves('POST /v1/hub/gateways/:id/commands/stop', () => api(contract.stopDeterrents, { ...to, body: {} }))
    await leaves('POST /v1/hub/gateways/:id/commands/arm', () => api(contract.armGateway, to))
    await leaves('POST /v1/hub/gateways/:id/commands/disarm', () => api(contract.disarmGateway, to))
    await leaves('POST /v1/hub/gateways/:id/commands/snooze', () =>
      api(contract.snoozeGateway, { ...to, body: { lasts: '30m' } }),
    )
    await leaves('POST /v1/hub/gateways/:id/commands/end-snooze', () =>
      api(contract.endGatewaySnooze, { ...to, body: {} }),
    )
    await leaves('POST /v1/hub/gateways/:id/commands/maintenance', () =>
      api(contract.maintainGateway, { ...to, body: { lasts: '30m' } }),
    )
    await leaves('POST /v1/hub/gateways/:id/commands/end-maintenance', () => api(contract.endGatewayMaintenance, to))
    await leaves('POST /v1/hub/gateways/:id/commands/undo-learning', () =>
      api(contract.undoGatewayLearning, { ...to, body: { camera: 'yard', label: 'deer' } }),
    )
    await leaves('POST /v1/hub/gateways/:id/commands/learn-now', () => api(contract.learnGatewayNow, to))
    await leaves('POST /v1/hub/gateways/:id/commands/undo-names', () =>
      api(contract.undoGatewayNames, { ...to, body: { number: 2 } }),
    )
    const head = {
      model: 'a'.repeat(64),
      names: ['boar'],
      cameras: ['orchard'],
      thresholds: [0.9],
      features: 1,
      weights: 'AAAAAAAAAAA=',
    }
    door.onRequest = (request, response) =>
      answerJson(response, request.url === '/v1/learning/names' ? { head } : {}, 200)
    await leaves('POST /v1/hub/gateways/:id/commands/use-names', () =>
      api(contract.useGatewayNames, { ...to, body: { gateway: joined.gatewayId } }),
    )
    putRelease(downloadsDir, { version: '9.0.0', number: 9 })
    const release = { number: 8, platform: 'linux-arm64' }
    hub.heartbeats.record(joined.gatewayId, testHeartbeat(hub.clock.now(), { release }))
    await leaves('POST /v1/hub/updates', () =>
      api(contract.updateGateways, { token: admin, body: { gatewayIds: [joined.gatewayId] } }),
    )
    const stopped = { number: 9, version: '9.0.0', state: 'stopped' as const, message: 'It failed.', started_at: 1 }
    await hub.db.insertInto('rollouts').values(stopped).execute()
    await leaves('POST /v1/hub/updates/resume', () => api(contract.resumeRollout, { token: admin }))
    await leaves('POST /v1/hub/updates/stop', () => api(contract.stopRollout, { token: admin }))
    await hub.db.updateTable('gateway_updates').set({ by_name: null, state: 'asked' }).execute()
    await leaves('POST /v1/hub/updates/skip', () =>
      api(contract.skipUpdate, { token: admin, body: { gatewayId: joined.gatewayId } }),
    )
    await joined.peer.stop()

    // Rules, settings, certificates.
    const invited = await leaves<{ invitation: { id: string } }>('POST /v1/admin/gateway-invitations', () =>
      api(contract.createGatewayInvitation, { token: admin, body: { label: 'Spring' } }),
    )
    await leaves('POST /v1/admin/gateway-invitations/labels', () =>
      api(contract.createGatewayLabels, { token: admin, body: { csv: 'Hen house,Hill farm' } }),
    )
    await leaves('DELETE /v1/admin/gateway-invitations/:id', () =>
      api(contract.revokeGatewayInvitation, { token: admin, params: { id: invited.invitation.id } }),
    )
    const rules = (await api(contract.readAutoApprovalSettings, { token: admin })).body as contract.AutoApprovalSettings
    await leaves('POST /v1/admin/auto-approval/settings', () =>
      api(contract.saveAutoApprovalSettings, { token: admin, body: { ...rules, enabled: false } }),
    )
    await leaves('PATCH /v1/admin/auto-approval/settings', () =>
      api(contract.editAutoApprovalSettings, { token: admin, body: { enabled: true } }),
    )
    const ntfy = { token: admin, params: { name: 'ntfy' } }
    await leaves('PATCH /v1/admin/channels/:name', () =>
      api(contract.editChannelSetup, { ...ntfy, body: { values: { url: 'https://ntfy.example.org/a' } } }),
    )
    await leaves('PUT /v1/admin/channels/:name', () =>
      api(contract.saveChannelSetup, { ...ntfy, body: { enabled: false, values: { url: '', token: '' } } }),
    )
    await leaves('POST /v1/admin/notifications/test', () => api(contract.sendTestNotification, { token: admin }))
    const [failed] = (await api(contract.listDeliveries, { token: admin, query: {} })).body as contract.Delivery[]
    await leaves('POST /v1/admin/deliveries/:id/send-again', () =>
      api(contract.sendDeliveryAgain, { token: admin, params: { id: failed!.id } }),
    )
    const settings = (await api(contract.readHubSettings, { token: admin })).body as contract.HubSettings
    await leaves('PUT /v1/hub/settings', () =>
      api(contract.saveHubSettings, { token: admin, body: { ...settings, hubName: 'Orchard' } }),
    )
    await leaves('PATCH /v1/hub/settings', () =>
      api(contract.editHubSettings, { token: admin, body: { hubName: 'Vineyard' } }),
    )
    const boars = { ...contract.ALERT_RULE_DEFAULTS, name: 'Boars' }
    const rule = await leaves<{ id: string }>('POST /v1/hub/alert-rules', () =>
      api(contract.addAlertRule, { token: admin, body: boars }),
    )
    await leaves('PUT /v1/hub/alert-rules/:id', () =>
      api(contract.updateAlertRule, { token: admin, params: { id: rule.id }, body: { ...boars, name: 'All boars' } }),
    )
    await leaves('PATCH /v1/hub/alert-rules/:id', () =>
      api(contract.editAlertRule, { token: admin, params: { id: rule.id }, body: { labels: ['boar'] } }),
    )
    await leaves('DELETE /v1/hub/alert-rules/:id', () =>
      api(contract.deleteAlertRule, { token: admin, params: { id: rule.id } }),
    )
    await leaves('POST /v1/hub/certificates/:id/renew', () =>
      api(contract.renewCertificate, { token: admin, params: { id: 'hub-tls' } }),
    )

    expect([...driven].toSorted()).toEqual(Object.keys(ACTIONS).toSorted())
  })

  test('has one entry for each request to enrol, and one for the rule that approved it', async () => {
    const device = createTestDevice(hub.app, { now: hub.clock.now, name: 'Shed', from: '198.51.100.30' })
    await newEntries()
    const { registrationId } = (await device.register()).body
    await device.register()
    expect(await newEntries()).toMatchObject([
      { actor: 'gateway', action: 'registration.request', target: registrationId, source_ip: '198.51.100.30' },
    ])
    await api(contract.editAutoApprovalSettings, {
      token: admin,
      body: { enabled: true, requireAdminApproval: false, ipWhitelist: ['198.51.100.31'] },
    })
    await newEntries()
    await createTestDevice(hub.app, { now: hub.clock.now, name: 'Mill', from: '198.51.100.31' }).register()
    expect(await newEntries()).toMatchObject([
      { actor: 'gateway', action: 'registration.request' },
      { actor: 'hub', action: 'registration.approve' },
    ])
  })

  test('has refusals: of a sign-in, an invite code, a claim, a password confirmation', async () => {
    const token = await hub.signIn('user')
    const from = '198.51.100.40'
    await newEntries()
    await api(contract.login, { from, body: { username: 'the-user', password: 'wrong-password' } })
    await api(contract.registerAccount, {
      from,
      body: {
        username: 'stranger',
        email: 's@example.org',
        password: PASSWORD,
        firstName: 'Rosa',
        lastName: 'Berg',
        inviteCode: 'guessed-it',
      },
    })
    await api(contract.claimGateway, { from, token, body: { deviceToken: 'DT-FFFFFFFFFFFF' } })
    await api(contract.changePassword, {
      from,
      token,
      body: { currentPassword: 'wrong-password', newPassword: PASSWORD },
    })
    const refused = { source_ip: from, result: 'refused', target: null }
    expect(await newEntries()).toMatchObject([
      { ...refused, actor: 'the-user', action: 'session.start' },
      { ...refused, actor: 'stranger', action: 'user.register' },
      { ...refused, actor: 'the-user', action: 'gateway.claim' },
      { ...refused, actor: 'the-user', action: 'identity.confirm' },
    ])
  })

  test('has a call that the role does not allow, once an hour for each person and call', async () => {
    const token = await hub.signIn('user')
    const from = '198.51.100.50'
    const make = (call: typeof contract.listUsers | typeof contract.saveHubSettings) =>
      api(call, { from, token, ...(call.method === 'PUT' && { body: { hubName: 'Mine' } }) })
    await newEntries()
    for (let i = 0; i < 5; i++) {
      expect(await make(contract.listUsers)).toMatchObject({ status: 403, body: { error: 'role_required' } })
      expect(await make(contract.saveHubSettings)).toMatchObject({ status: 403 })
    }
    const entry = { actor: 'the-user', action: 'call.make', result: 'refused', source_ip: from }
    expect(await newEntries()).toMatchObject([
      { ...entry, target: 'GET /v1/hub/users' },
      { ...entry, target: 'PUT /v1/hub/settings' },
    ])
  })

  test('has it again an hour later', async () => {
    let now = 0
    const record = createRefusedCalls({ db: hub.db, clock: () => now, log: hub.app.log as never })
    const caller = { userId: 'u', username: 'rosa', role: 'user' as const, sessionId: 's' }
    const refused = { caller, call: 'GET /v1/admin/audit', sourceIp: '192.0.2.1' }
    await newEntries()
    for (const at of [0, HOUR_MS - 1, HOUR_MS, HOUR_MS + 1]) {
      now = at
      await record(refused)
    }
    expect(await newEntries()).toHaveLength(2)
  })
})
