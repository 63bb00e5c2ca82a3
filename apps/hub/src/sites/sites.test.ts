import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

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
  const move = async (id: string, name: string, location: string) =>
    expect((await api(contract.editGateway, { token, params: { id }, body: { name, location } })).status).toBe(200)
  const addRule = (name: string, sites: string[]) =>
    api(contract.addAlertRule, { token, body: { ...contract.ALERT_RULE_DEFAULTS, name, sites } })
  const sitesOfRules = async () =>
    ((await api(contract.listAlertRules, { token })).body as contract.AlertRule[]).map(({ name, sites }) => [
      name,
      sites,
    ])
  const uses = async (site: string) => (await api(contract.siteUses, { token, query: { site } })).body
  const activity = async () =>
    (await hub.db.selectFrom('activity').select('message').where('message', 'like', '%ite "%').execute()).map(
      ({ message }) => message,
    )

  test('a site that is renamed takes with it all that names it, and the audit says so', async () => {
    const id = await gatewayAt('Barn', 'Old hill')
    await addRule('Boars', ['Old hill', 'Valley'])
    await addRule('Both', ['Old hill', 'New hill'])
    await addRule('Elsewhere', ['Valley'])
    await hub.db.insertInto('site_updates').values({ site: 'Old hill', automatic: 1, hours: null }).execute()
    await api(contract.saveView, { token, body: { name: 'Hill', filter: 'label=boar&site=Old+hill' } })
    expect(await uses('Old hill')).toEqual({ gatewayIds: [id], rules: ['Boars', 'Both'], hasUpdates: true, views: 1 })

    await move(id, 'Barn', 'New hill')
    expect(await sitesOfRules()).toEqual([
      ['Boars', ['New hill', 'Valley']],
      ['Both', ['New hill']],
      ['Elsewhere', ['Valley']],
    ])
    const updates = await hub.db.selectFrom('site_updates').select(['site', 'automatic']).execute()
    expect(updates).toEqual([{ site: 'New hill', automatic: 1 }])
    const views = (await api(contract.listSavedViews, { token })).body
    expect(views).toMatchObject([{ name: 'Hill', filter: 'label=boar&site=New+hill' }])
    const audit = hub.db.selectFrom('audit').select(['actor', 'target']).where('action', '=', 'site.rename')
    expect(await audit.execute()).toEqual([{ actor: 'the-admin', target: 'Old hill to New hill' }])
    expect(await activity()).toEqual([
      'Site "Old hill" was renamed to "New hill" by the-admin: the alert rules "Boars", "Both", automatic ' +
        'updates and 1 saved view follow it',
    ])
  })

  test('several gateways: nothing changes until the last one is there', async () => {
    const [barn, shed] = [await gatewayAt('Barn', 'Hill'), await gatewayAt('Shed', 'Hill')]
    await addRule('Boars', ['Hill'])
    await move(barn, 'Barn', 'Top')
    expect(await sitesOfRules()).toEqual([['Boars', ['Hill']]])
    expect(await uses('Hill')).toMatchObject({ gatewayIds: [shed], rules: ['Boars'] })
    await move(shed, 'Shed', 'Top')
    expect(await sitesOfRules()).toEqual([['Boars', ['Top']]])
  })

  test('a site that loses its last gateway keeps its rules, and people are told', async () => {
    const id = await gatewayAt('Barn', 'Hill')
    await addRule('Boars', ['Hill'])
    await move(id, 'Barn', '')
    expect(await sitesOfRules()).toEqual([['Boars', ['Hill']]])
    await move(id, 'Barn', 'Hill')
    await api(contract.deleteGateway, { token, params: { id }, body: { name: 'Barn' } })
    const told = 'No gateway is at site "Hill", which the alert rule "Boars" still names'
    expect(await activity()).toEqual([told, told])
  })

  test('a site that is there keeps its own updates, and only managers may ask', async () => {
    const id = await gatewayAt('Barn', 'Hill')
    await gatewayAt('Shed', 'Top')
    for (const [site, automatic] of [
      ['Hill', 1],
      ['Top', 0],
    ] as const)
      await hub.db.insertInto('site_updates').values({ site, automatic, hours: null }).execute()
    await move(id, 'Barn', 'Top')
    const updates = await hub.db.selectFrom('site_updates').select(['site', 'automatic']).execute()
    expect(updates).toEqual([{ site: 'Top', automatic: 0 }])
    const user = await hub.signIn('user')
    expect((await api(contract.siteUses, { token: user, query: { site: 'Hill' } })).status).toBe(403)
  })
})
