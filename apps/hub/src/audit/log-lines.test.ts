import * as contract from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { createTestDevice } from '#testing/device.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { writeAudit } from './audit.ts'
import { createAuditLogLines } from './log-lines.ts'

type Line = Record<string, unknown> & { msg: string }

describe.each(testEngines)('lines of the log on %s', (engine) => {
  let hub: TestHub
  beforeEach(async () => {
    hub = await startTestHub(engine)
  })
  afterEach(() => hub.stop())

  async function follow(isWhole: boolean) {
    const lines: Line[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void lines.push(JSON.parse(line) as Line) })
    const told = createAuditLogLines({ db: hub.db, log, isWhole })
    await told.start()
    return { lines, look: told.look, stop: told.stop }
  }
  const call = async (token: string | undefined, method: 'POST' | 'PATCH', url: string, payload: object) =>
    hub.app.inject({
      method,
      url: `/api/v1${url}`,
      payload,
      remoteAddress: '198.51.100.9',
      ...(token && { headers: { authorization: `Bearer ${token}` } }),
    })

  test('name sign-ins, refusals, decisions and settings by ids, once, and nothing from before the start', async () => {
    const admin = await hub.signIn('admin')
    const manager = await hub.signIn('manager')
    await writeAudit(hub.db, { actor: 'rosa', action: 'session.start', result: 'ok' })
    const { lines, look } = await follow(false)
    const password = 'the-password-of-admin'
    await call(undefined, 'POST', '/auth/login', { username: 'the-admin', password })
    await call(undefined, 'POST', '/auth/login', { username: 'correct-horse-battery', password })
    await call(manager, 'PATCH', '/hub/settings', { hubName: 'Mine' })
    await call(admin, 'PATCH', '/hub/settings', { hubName: 'Orchard' })
    await createTestDevice(hub.app, { now: hub.clock.now, name: 'Barn' }).register()
    const [registration] = (
      await hub.app.inject({
        url: '/api/v1' + contract.listPendingRegistrations.path.replace(/^\/v1/, ''),
        headers: { authorization: `Bearer ${admin}` },
      })
    ).json<{ registrationId: string }[]>()
    const id = registration!.registrationId
    await call(admin, 'POST', contract.approveRegistration.path.replace(/^\/v1/, '').replace(':registrationId', id), {})
    await look()
    await look()
    const adminId = expect.stringMatching(/^\w+/)
    expect(lines).toMatchObject([
      { msg: 'session.start', by: adminId, sourceIp: '198.51.100.9' },
      { msg: 'session.start refused', sourceIp: '198.51.100.9' },
      { msg: 'call.make refused', target: 'PATCH /v1/hub/settings' },
      { msg: 'settings.change', by: adminId, target: 'hubName' },
      { msg: 'registration.request', by: 'gateway', target: id },
      { msg: 'registration.approve', by: adminId, target: id },
    ])
    expect(JSON.stringify(lines), 'what may be a password in the wrong field').not.toContain('correct-horse')
    expect(JSON.stringify(lines), 'no names').not.toMatch(/the-admin|the-manager|Barn/)
  })

  test('are whole entries when the setting is on, also an entry that commits after a later one', async () => {
    const { lines, look, stop } = await follow(true)
    await writeAudit(hub.db, {
      actor: 'rosa\n\u001b[2J',
      action: 'gateway.edit',
      target: 'abc',
      result: 'refused',
      reason: 'No',
    })
    const row = await hub.db.selectFrom('audit').selectAll().orderBy('id', 'desc').executeTakeFirstOrThrow()
    const late = { ...row, actor: 'late' }
    await hub.db
      .insertInto('audit')
      .values({ ...late, id: row.id + 2 })
      .execute()
    await look()
    await hub.db
      .insertInto('audit')
      .values({ ...late, id: row.id + 1 })
      .execute()
    await stop()
    expect(lines.map(({ audit, actor, reason, msg }) => [audit, actor, reason, msg])).toEqual([
      [row.id, 'rosa\n\u001b[2J', 'No', 'gateway.edit refused'],
      [row.id + 2, 'late', 'No', 'gateway.edit refused'],
      [row.id + 1, 'late', 'No', 'gateway.edit refused'],
    ])
  })
})
