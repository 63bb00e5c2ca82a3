import { randomBytes, randomUUID } from 'node:crypto'
import { base32, requestBytes, IDENTITY_HEADER, NONCE_HEADER, SIGNATURE_HEADER, TIME_HEADER } from '@hedgerow/enrolment'
import * as contract from '@hedgerow/contract'
import { ownedBy } from '../src/access/ownership.ts'
import { insertToken } from '../src/accounts/tokens.ts'
import { storeDetections } from '../src/detections/detections.ts'
import type { Line } from '../src/alerts/words.ts'
import { createTestApi } from './api.ts'
import { testDetection } from './detection.ts'
import { newKeys } from './device.ts'
import { insertTestGateway } from './gateway.ts'
import { testHeartbeat } from './heartbeat.ts'
import type { TestHub } from './hub.ts'
import { noiseJpeg } from './jpeg.ts'

/** Every kind of thing that a call can name, of one person: everything that shows a text says `word`. */
export type Things = Awaited<ReturnType<typeof makeThings>>

const id = (bytes: number) => base32(randomBytes(bytes)).toLowerCase()

/** Ids that nothing has. */
export const missingThings = (): Pick<Things, 'ids' | 'gatewayName'> => ({
  gatewayName: 'Nothing',
  ids: {
    user: randomUUID(),
    session: randomUUID(),
    providerLink: randomUUID(),
    token: randomUUID(),
    gateway: id(8).slice(0, 12),
    deviceToken: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
    detection: 'nothing',
    incident: 'nothing',
    review: 'nothing',
    alert: 'nothing',
    alertLink: 'nothing',
    pictureLink: 'nothing',
    clipLink: randomBytes(32).toString('base64url'),
    registration: id(13).slice(0, 20),
    savedView: id(10),
    push: 'nothing',
    rule: 'nothing',
    delivery: '999999999',
    gatewayInvitation: id(8).slice(0, 12),
    userInvitation: randomUUID(),
    certificate: 'nothing',
    site: id(8).slice(0, 12),
  },
})

type Making = {
  /** Whom calls about users change: the owner goes on making calls. */ user?: string | undefined
  word: string
  owner: string
  admin: string
  /** Whom the links in messages are for. */ reader: string
}

export async function makeThings(hub: TestHub, { word, owner, admin, reader, user }: Making) {
  const { db } = hub
  const now = hub.clock.now()
  const api = createTestApi(hub)
  const token = (userId: string) => hub.sessions.start({ id: userId }, { sourceIp: '127.0.0.1', userAgent: 'test' })
  const session = await token(owner)
  const wanted = contract.tokenFields.parse({ name: `${word} ${id(5)}` })
  const author = { at: now, actor: { name: word, userId: owner } }
  const { details } = await insertToken(db, { id: owner, role: 'user' }, wanted, author)
  const { identity } = newKeys()
  const deviceToken = `DT-${randomBytes(6).toString('hex').toUpperCase()}`
  const gatewayName = `${word} ${id(5)}`
  const gateway = await insertTestGateway(db, {
    name: gatewayName,
    location: word,
    description: word,
    tags: JSON.stringify([word.toLowerCase()]),
    kind: 'wireguard',
    device_token: deviceToken,
    identity_public_key: identity.publicKey,
    private_key: 'a private key',
    created_at: now,
    ...ownedBy(owner),
  })
  const jpeg = await noiseJpeg(16)
  const detection = `seen-${id(5)}`
  const seen = testDetection(hub, detection, { camera: `${word} camera`, label: word, jpeg })
  await storeDetections(db, gateway, [seen], now)
  hub.heartbeats.record(
    gateway,
    testHeartbeat(now, {
      cameras: [{ name: `${word} camera`, state: 'online', fps: 5 }],
      problems: [`${word} is ill`],
    }),
  )
  const { id: incident } = await db
    .selectFrom('incidents')
    .select('id')
    .where('gateway_id', '=', gateway)
    .executeTakeFirstOrThrow()
  const as = { token: session }
  const reviewed = await api(contract.reviewIncidents, {
    ...as,
    body: { ids: [incident], verdict: 'wrong', label: word },
  })
  const [{ reviewId }] = reviewed.body as [{ reviewId: string }]
  const entry = {
    id: 1,
    at: now,
    kind: 'fired',
    deterrent: word.toLowerCase(),
    seconds: 5,
    by: { kind: 'rule', name: word },
  }
  const row = { gateway_id: gateway, entry_id: 1, at: now, received_at: now, entry: JSON.stringify(entry) }
  await db.insertInto('ledger').values(row).execute()
  const about = { type: 'info' as const, message: `${word} happened`, kind: null, detection_id: detection }
  await db
    .insertInto('activity')
    .values({ at: now, gateway_id: gateway, ...about })
    .execute()
  await db
    .insertInto('ui_access')
    .values({ user_id: owner, gateway_id: gateway, started_at: now, source_ip: '192.0.2.1', application: null })
    .execute()
  const alert = `alert-${id(5)}`
  const line: Line = {
    kind: 'detection',
    id: incident,
    gatewayId: gateway,
    gatewayName: word,
    camera: word,
    label: word,
    detail: '',
    coverId: detection,
    startedAt: now,
  }
  await db
    .insertInto('alerts')
    .values({
      id: alert,
      rule_id: `rule-${alert}`,
      rule_name: word,
      number: 1,
      at: now,
      due_at: now,
      lines: JSON.stringify([line]),
      counts: JSON.stringify({ [gateway]: 3 }),
      gateway_id: gateway,
      next_step_at: null,
      people_due_at: null,
      acknowledged_at: null,
      acknowledged_by: null,
      acknowledged_via: null,
      cleared_at: null,
    })
    .execute()
  await db.insertInto('notices').values({ user_id: owner, alert_id: alert, at: now, read_at: null }).execute()
  const providerLink = randomUUID()
  await db
    .insertInto('provider_links')
    .values({
      id: providerLink,
      user_id: owner,
      issuer: `https://${word}.example`,
      subject: id(8),
      created_at: now,
      last_used_at: now,
    })
    .execute()
  const registration = id(13).slice(0, 20)
  await db
    .insertInto('registrations')
    .values({
      id: registration,
      status: 'pending',
      identity_public_key: identity.publicKey,
      wireguard_public_key: newKeys().publicKey,
      key_change_for: null,
      device_name: gatewayName,
      device_location: word,
      device_version: '1.0.0',
      mac_address: '',
      device_token: `DT-${randomBytes(6).toString('hex').toUpperCase()}`,
      source_ip: '203.0.113.9',
      invitation_id: null,
      waits_for: null,
      reason: null,
      gateway_id: null,
      requested_at: now,
      decided_at: null,
      decided_by: null,
      ...ownedBy(owner),
    })
    .execute()
  const view = await api(contract.saveView, { ...as, body: { name: gatewayName, filter: 'label=boar' } })
  const push = `push-${id(5)}`
  await db
    .insertInto('push_subscriptions')
    .values({
      id: push,
      user_id: owner,
      endpoint: `https://push.invalid/${push}`,
      p256dh: '',
      auth: '',
      user_agent: word,
      session_id: null,
      created_at: now,
      last_at: null,
      last_error: null,
    })
    .execute()
  const { id: ownSession } = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', owner)
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow()
  const byAdmin = { token: admin }
  const idOf = (answer: { body: unknown }) => (answer.body as { id: string }).id
  const site = await api(contract.addSite, { ...byAdmin, body: { name: gatewayName, notes: word } })
  await api(contract.assignSite, { ...byAdmin, body: { ids: [gateway], siteId: idOf(site) } })
  const rule = await api(contract.addAlertRule, {
    ...byAdmin,
    body: { ...contract.ALERT_RULE_DEFAULTS, enabled: false, name: gatewayName },
  })
  const invited = await api(contract.createGatewayInvitation, { ...byAdmin, body: { label: word } })
  const created = await api(contract.createUserInvitation, { ...byAdmin, body: { label: word, maxUses: 1 } })
  const invitationOf = (answer: { body: unknown }) => idOf({ body: (answer.body as { invitation: object }).invitation })
  const delivery = await db
    .insertInto('notifications')
    .values({
      key: alert,
      channel: 'webhook',
      kind: 'test',
      content: JSON.stringify({ title: word, text: word }),
      state: 'failed',
      attempts: 1,
      created_at: now,
      due_at: now,
      error: word,
      alert_id: null,
      attempted_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return {
    gatewayName,
    jpeg,
    ids: {
      user: user ?? (await hub.addUser(`u-${id(5)}`, 'user', 'gravel-lantern-42')),
      session: ownSession,
      providerLink,
      token: details.id,
      gateway,
      deviceToken,
      detection,
      incident,
      review: reviewId,
      alert,
      alertLink: hub.alertLinks.make({ alertId: alert, channel: 'email', userId: reader }),
      pictureLink: hub.alertLinks.make({ alertId: alert, channel: 'picture', userId: reader }),
      clipLink: randomBytes(32).toString('base64url'),
      registration,
      savedView: idOf(view),
      push,
      rule: idOf(rule),
      delivery: String(delivery.id),
      gatewayInvitation: invitationOf(invited),
      userInvitation: invitationOf(created),
      certificate: 'hub-tls',
      site: idOf(site),
    },
    /** The headers of a request that the gateway signs. */
    sign(method: string, target: string, body: string): Record<string, string> {
      const time = String(Math.floor(hub.clock.now()))
      const nonce = randomBytes(32).toString('base64')
      const signed = requestBytes({ method, target, time, nonce, body: Buffer.from(body) })
      return {
        [IDENTITY_HEADER]: identity.publicKey,
        [TIME_HEADER]: time,
        [NONCE_HEADER]: nonce,
        [SIGNATURE_HEADER]: identity.sign(signed),
      }
    },
  }
}

/** What would reach a limit when it is made again and again. */
export async function removeThings({ db }: TestHub, { ids }: Things): Promise<void> {
  await db.deleteFrom('gateways').where('id', '=', ids.gateway).execute()
  await db.deleteFrom('registrations').where('id', '=', ids.registration).execute()
  await db.deleteFrom('saved_views').where('id', '=', ids.savedView).execute()
  await db.deleteFrom('api_tokens').where('id', '=', ids.token).execute()
  await db.deleteFrom('alert_rules').where('id', '=', ids.rule).execute()
  await db.deleteFrom('alerts').where('id', '=', ids.alert).execute()
}
