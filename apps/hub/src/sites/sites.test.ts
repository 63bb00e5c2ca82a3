import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { testDetection } from '#testing/detection.ts'
import { createTestDevice } from '#testing/device.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections } from '../detections/detections.ts'

describe.each(testEngines)('sites on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    await hub.app.ready()
    api = createTestApi(hub)
    token = await hub.signIn('admin')
    await hub.db.deleteFrom('alert_rules').execute()
  })
  afterEach(() => hub.stop())

  const gatewayAt = (name: string, location: string) => insertTestGateway(hub.db, { name, location })
  const addSite = async (name: string, more: object = {}) => {
    const { status, body } = await api(contract.addSite, { token, body: { name, ...more } })
    expect(status).toBe(200)
    return (body as contract.Site).id
  }
  const edit = async (id: string, body: object) =>
    expect((await api(contract.editGateway, { token, params: { id }, body })).status).toBe(200)
  const gateway = async (id: string) =>
    (await api(contract.readGateway, { token, params: { id } })).body as contract.GatewayDetail
  const siteNameOf = async (id: string) => (await gateway(id)).site?.name ?? null
  const sites = async (as = token) => (await api(contract.listSites, { token: as })).body as contract.Site[]
  const fields = { ...contract.ALERT_RULE_DEFAULTS, severity: 'any' as const }
  const addRule = async (name: string, named: string[]) =>
    (await api(contract.addAlertRule, { token, body: { ...fields, name, sites: named } })).body as contract.AlertRule
  /** How many incidents the rule would have announced. */
  const announced = async (named: string[]) =>
    (
      (await api(contract.previewAlertRule, { token, body: { ...fields, name: 'x', sites: named } })).body as {
        incidents: number
      }
    ).incidents
  const sees = (id: string) => storeDetections(hub.db, id, [testDetection(hub, `seen ${id}`)], hub.clock.now())
  const activity = async () =>
    (
      await hub.db.selectFrom('activity').select('message').where('message', 'like', '%ite "%').orderBy('id').execute()
    ).map(({ message }) => message)

  test('a new name changes nothing of what names the site, and the audit has it', async () => {
    const id = await gatewayAt('Barn', 'Old hill')
    const hill = await addSite('Old hill')
    const rule = await addRule('Boars', [hill])
    await api(contract.editSiteUpdates, { token, body: { site: hill, automatic: true } })
    await api(contract.saveView, { token, body: { name: 'Hill', filter: `label=boar&site=${hill}` } })
    await sees(id)
    expect(await announced([hill])).toBe(1)

    const renamed = await api(contract.editSite, { token, params: { id: hill }, body: { name: 'New hill' } })
    expect(renamed.body).toMatchObject({ id: hill, name: 'New hill', gateways: 1 })
    const rules = (await api(contract.listAlertRules, { token })).body as contract.AlertRule[]
    expect(rules).toEqual([{ ...rule, last: rules[0]!.last }])
    expect(await announced([hill])).toBe(1)
    expect(await gateway(id)).toMatchObject({ location: 'Old hill', site: { id: hill, name: 'New hill' } })
    const versions = (await api(contract.getVersions, { token })).body as contract.Versions
    expect(versions.sites).toEqual([{ site: hill, name: 'New hill', automatic: true, hours: null }])
    const uses = (await api(contract.siteUses, { token, params: { id: hill } })).body
    expect(uses).toEqual({ gateways: 1, rules: ['Boars'], hasUpdates: true, invitations: 0, views: 1 })
    const audit = hub.db.selectFrom('audit').select(['actor', 'target']).where('action', '=', 'site.rename')
    expect(await audit.execute()).toEqual([{ actor: 'the-admin', target: 'Old hill to New hill' }])
    expect(await activity()).toContain('Site "Old hill" was renamed to "New hill" by the-admin')
  })

  test('a gateway that joins later with a name of the site, or a former one, is covered as before', async () => {
    const hill = await addSite('Hill')
    await api(contract.editSite, { token, params: { id: hill }, body: { name: 'Top' } })
    const join = async (deviceName: string, deviceLocation: string, body?: object) => {
      const { registrationId } = (await createTestDevice(hub.app).register({ deviceName, deviceLocation })).body
      const approved = await api(contract.approveRegistration, { token, params: { registrationId }, body })
      expect(approved.status).toBe(200)
      return (approved.body as { gatewayId: string }).gatewayId
    }
    const former = await join('Barn', 'Hill')
    expect(await gateway(former)).toMatchObject({ location: 'Hill', site: { id: hill, name: 'Top' } })
    await sees(former)
    expect(await announced([hill])).toBe(1)
    expect(await siteNameOf(await join('Shed', 'Top'))).toBe('Top')
    expect(await siteNameOf(await join('Mill', 'hill'))).toBeNull()
    const valley = await addSite('Valley')
    expect(await siteNameOf(await join('Gate', 'Hill', { siteId: valley }))).toBe('Valley')
    // A name that somebody gives to another site means that one.
    const second = await addSite('Hill')
    expect((await gateway(await join('Pond', 'Hill'))).site?.id).toBe(second)
  })

  test('an invitation puts its gateways in a site', async () => {
    const hill = await addSite('Hill')
    const wanted = { label: 'For Ada', approves: false, siteId: hill }
    const made = await api(contract.createGatewayInvitation, { token, body: wanted })
    expect(made.body).toMatchObject({ invitation: { site: { id: hill, name: 'Hill' } } })
    const { code } = made.body as { code: string }
    const { registrationId } = (await createTestDevice(hub.app).register({ deviceLocation: 'Elsewhere' }, code)).body
    const approved = await api(contract.approveRegistration, { token, params: { registrationId } })
    const { gatewayId } = approved.body as { gatewayId: string }
    expect(await gateway(gatewayId)).toMatchObject({ location: 'Elsewhere', site: { id: hill } })
    const missing = await api(contract.createGatewayInvitation, {
      token,
      body: { ...wanted, siteId: 'aaaaaaaaaaaa' },
    })
    expect(missing).toMatchObject({ status: 404, body: { error: 'site_not_found' } })
  })

  test('a location puts a gateway in the site of that name, and takes it out of none', async () => {
    const [hill, valley] = [await addSite('Hill'), await addSite('Valley')]
    const id = await gatewayAt('Barn', '')
    await edit(id, { location: 'Hill' })
    expect(await siteNameOf(id)).toBe('Hill')
    await edit(id, { location: 'Behind the barn' })
    expect(await gateway(id)).toMatchObject({ location: 'Behind the barn', site: { id: hill } })
    await edit(id, { location: 'Valley', siteId: hill })
    expect(await siteNameOf(id)).toBe('Hill')
    await edit(id, { description: 'Red' })
    expect(await siteNameOf(id)).toBe('Hill')
    await edit(id, { siteId: null })
    expect(await gateway(id)).toMatchObject({ location: 'Valley', site: null })
    await edit(id, { siteId: valley })
    expect(await siteNameOf(id)).toBe('Valley')
  })

  test('many gateways are put in a site at once: all or none, and each is in the audit', async () => {
    const ids = [await gatewayAt('Barn', ''), await gatewayAt('Shed', ''), await gatewayAt('Mill', '')]
    const hill = await addSite('Hill')
    const assign = (body: { ids: string[]; siteId: string | null }) => api(contract.assignSite, { token, body })
    expect(await assign({ ids: [...ids, 'aaaaaaaaaaaa'], siteId: hill })).toMatchObject({ status: 404 })
    expect(await assign({ ids, siteId: 'aaaaaaaaaaaa' })).toMatchObject({ body: { error: 'site_not_found' } })
    expect((await sites())[0]).toMatchObject({ gateways: 0 })
    expect((await assign({ ids, siteId: hill })).body).toEqual({ changed: 3 })
    expect((await assign({ ids, siteId: hill })).body).toEqual({ changed: 0 })
    expect((await sites())[0]).toMatchObject({ name: 'Hill', gateways: 3 })
    const there = await api(contract.listGateways, { token, query: { site: hill } })
    expect(there.body).toHaveLength(3)
    expect((await assign({ ids: ids.slice(1), siteId: null })).body).toEqual({ changed: 2 })
    const audit = hub.db.selectFrom('audit').select('target').where('action', '=', 'gateway.change-site')
    expect(await audit.execute()).toHaveLength(5)
  })

  test('a site that a rule names stays; another goes, and its gateways are without a site', async () => {
    const id = await gatewayAt('Barn', 'Hill')
    const hill = await addSite('Hill')
    const rule = await addRule('Boars', [hill])
    await api(contract.editSiteUpdates, { token, body: { site: hill, automatic: false } })
    const refused = await api(contract.deleteSite, { token, params: { id: hill } })
    expect(refused).toMatchObject({
      status: 409,
      body: {
        error: 'site_in_use',
        message: 'The site is named by the alert rule "Boars". Change it first.',
      },
    })
    expect(await siteNameOf(id)).toBe('Hill')
    await api(contract.deleteAlertRule, { token, params: { id: rule.id } })
    expect((await api(contract.deleteSite, { token, params: { id: hill } })).status).toBe(204)
    expect(await gateway(id)).toMatchObject({ location: 'Hill', site: null })
    expect(await sites()).toEqual([])
    expect(await hub.db.selectFrom('site_updates').selectAll().execute()).toEqual([])
    expect((await api(contract.deleteSite, { token, params: { id: hill } })).status).toBe(404)
  })

  test('people are told of a site that lost its last gateway while a rule names it', async () => {
    const id = await gatewayAt('Barn', 'Hill')
    const hill = await addSite('Hill')
    await addRule('Boars', [hill])
    await edit(id, { siteId: null })
    await edit(id, { siteId: hill })
    await api(contract.deleteGateway, { token, params: { id }, body: { name: 'Barn' } })
    const told = 'No gateway is at site "Hill", which the alert rule "Boars" still names'
    expect((await activity()).filter((message) => message.startsWith('No gateway'))).toEqual([told, told])
  })

  test('what older tabs and programs send goes on: names in rules, updates and addresses', async () => {
    const id = await gatewayAt('Barn', 'Hill')
    const hill = await addSite('Hill')
    await sees(id)
    expect(await addRule('Boars', ['Hill', hill])).toMatchObject({ sites: [hill] })
    const unknown = await api(contract.addAlertRule, { token, body: { ...fields, name: 'x', sites: ['Nowhere'] } })
    expect(unknown).toMatchObject({ status: 404, body: { error: 'site_not_found' } })
    expect((await api(contract.editSiteUpdates, { token, body: { site: 'Hill', automatic: true } })).status).toBe(200)
    const other = await gatewayAt('Shed', 'No site')
    await sees(other)
    const listed = async (site: string) =>
      ((await api(contract.listIncidents, { token, query: { site } })).body as contract.Incident[]).map(
        ({ gatewayName, site: at }) => [gatewayName, at?.name ?? null],
      )
    expect(await listed(hill)).toEqual([['Barn', 'Hill']])
    expect(await listed('Hill')).toEqual([['Barn', 'Hill']])
    expect(await listed('No site')).toEqual([['Shed', null]])
    expect(await listed('Nowhere')).toEqual([])
  })

  test('names are unique, places are checked, and an edit that others overtook is refused', async () => {
    const hill = await addSite('Hill', { latitude: 47.5, longitude: -122.25, timeZone: 'Asia/Tokyo', notes: 'Gate 4' })
    await addSite('Valley')
    const change = (body: object) => api(contract.editSite, { token, params: { id: hill }, body })
    expect(await change({ name: 'Valley' })).toMatchObject({ status: 409, body: { error: 'site_name_taken' } })
    expect((await api(contract.addSite, { token, body: { name: 'Hill' } })).status).toBe(409)
    for (const wrong of [{ latitude: 91 }, { longitude: -181 }, { timeZone: 'Mars/Base' }, { name: ' ' }])
      expect((await change(wrong)).status).toBe(400)
    expect(await change({ notes: 'x', seen: { notes: 'Gate 3' } })).toMatchObject({ status: 409 })
    expect((await sites())[0]).toEqual({
      id: hill,
      name: 'Hill',
      latitude: 47.5,
      longitude: -122.25,
      timeZone: 'Asia/Tokyo',
      notes: 'Gate 4',
      gateways: 0,
    })
  })

  test("times are shown in the site's zone, without one in the gateway's own", async () => {
    const id = await gatewayAt('Barn', '')
    hub.heartbeats.record(id, testHeartbeat(hub.clock.now(), { timeZone: 'Europe/Berlin' }))
    expect((await gateway(id)).timeZone).toBe('Europe/Berlin')
    const hill = await addSite('Hill', { timeZone: 'Asia/Tokyo' })
    await edit(id, { siteId: hill })
    expect((await gateway(id)).timeZone).toBe('Asia/Tokyo')
    await api(contract.editSite, { token, params: { id: hill }, body: { timeZone: null } })
    expect((await gateway(id)).timeZone).toBe('Europe/Berlin')
  })

  test('a user sees the sites of their own gateways, without notes, and changes none', async () => {
    const rosa = await hub.addUser('rosa', 'user', 'gravel-lantern-42')
    const id = await insertTestGateway(hub.db, { name: 'Mine', ...ownedBy(rosa) })
    const theirs = await gatewayAt('Theirs', 'Hill')
    const hill = await addSite('Hill', { notes: 'The key is under the stone' })
    await addSite('Valley')
    const as = await hub.sessions.start({ id: rosa }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    expect(await sites(as)).toEqual([])
    await edit(id, { siteId: hill })
    expect(await sites(as)).toMatchObject([{ name: 'Hill', gateways: 1, notes: '' }])
    expect(await sites(await hub.signIn('manager'))).toHaveLength(2)
    for (const [call, request] of [
      [contract.addSite, { body: { name: 'x' } }],
      [contract.editSite, { params: { id: hill }, body: { name: 'x' } }],
      [contract.deleteSite, { params: { id: hill } }],
      [contract.siteUses, { params: { id: hill } }],
      [contract.assignSite, { body: { ids: [theirs], siteId: hill } }],
    ] as const)
      expect((await api(call as typeof contract.addSite, { token: as, ...(request as object) } as never)).status).toBe(
        403,
      )
  })
})
