import * as contract from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'

describe.each(testEngines)('tags of gateways on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  let [barn, mill] = ['', '']
  /** Entries of the audit before the test. */
  let earlier = 0
  beforeAll(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    token = await hub.signIn('manager')
  })
  afterAll(() => hub.stop())
  beforeEach(async () => {
    await hub.db.deleteFrom('gateways').execute()
    earlier = (await entries()).length
    barn = await insertTestGateway(hub.db, { name: 'Barn' })
    mill = await insertTestGateway(hub.db, { name: 'Mill' })
  })

  const tag = (body: object) => api(contract.tagGateways, { token, body: body as never })
  const listed = async (query: contract.QueryOf<typeof contract.listGateways> = {}) => {
    const { body } = await api(contract.listGateways, { token, query })
    return (body as contract.Gateway[]).map(({ name, tags }) => [name, ...tags].join(' '))
  }
  const entries = () => hub.db.selectFrom('audit').select(['action', 'target']).orderBy('id').execute()
  const audited = async () => (await entries()).slice(earlier).map(({ action, target }) => `${action} ${target}`)

  it('are added to and removed from several gateways at once, and each change has an audit entry', async () => {
    expect((await tag({ ids: [barn, mill], add: ['Orchard', ' north ', 'north'] })).body).toEqual({ changed: 2 })
    expect(await listed()).toEqual(['Barn north orchard', 'Mill north orchard'])
    expect((await tag({ ids: [barn, mill, barn], add: ['winter'], remove: ['north', 'never'] })).body).toEqual({
      changed: 2,
    })
    expect((await tag({ ids: [mill], remove: ['orchard'] })).body).toEqual({ changed: 1 })
    expect((await tag({ ids: [mill], remove: ['orchard'] })).body, 'nothing to change').toEqual({ changed: 0 })
    expect(await listed()).toEqual(['Barn orchard winter', 'Mill winter'])
    const [first, second] = [barn, mill].toSorted()
    expect(await audited()).toEqual([first, second, first, second, mill].map((gatewayId) => `gateway.tag ${gatewayId}`))
  })

  it('change for all gateways of a call or for none', async () => {
    const many = Array.from({ length: contract.GATEWAY_TAGS_MAX }, (_, index) => `tag${index}`)
    await tag({ ids: [mill], add: many })
    expect((await tag({ ids: [barn, mill], add: ['one-more'] })).body).toMatchObject({
      error: 'too_many_tags',
      message: 'Gateway "Mill" would have more than 20 tags.',
    })
    expect((await tag({ ids: [barn, 'aaaaaaaaaaaa'], add: ['north'] })).body).toMatchObject({
      error: 'gateway_not_found',
    })
    expect((await listed())[0]).toBe('Barn')
    expect((await tag({ ids: [mill], add: ['one-more'], remove: ['tag0'] })).body).toEqual({ changed: 1 })
  })

  it.each([
    [{ add: ['two words'] }, 'add.0'],
    [{ add: [''] }, 'add.0'],
    [{ add: ['x'.repeat(31)] }, 'add.0'],
    [{ add: ['-begins'] }, 'add.0'],
    [{ add: ['a"b'] }, 'add.0'],
    [{ add: ['zero\u200bwidth'] }, 'add.0'],
    [{ add: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'add'],
    [{}, 'add'],
    [{ add: ['north'], remove: ['NORTH'] }, 'remove'],
  ])('are words: %j is refused', async (change, field) => {
    const answer = await tag({ ids: [barn], ...change })
    expect(answer.body).toMatchObject({ error: 'invalid_request', fieldErrors: { [field]: expect.any(String) } })
  })

  it('are part of an edit; an edit without them leaves them', async () => {
    const edit = (body: object) =>
      api(contract.editGateway, { token, params: { id: barn }, body: { name: 'Barn', ...body } })
    expect((await edit({ tags: ['north'] })).body).toMatchObject({ tags: ['north'] })
    expect(await audited()).toEqual([`gateway.tag ${barn}`])
    expect((await edit({ location: 'Hill' })).body).toMatchObject({ tags: ['north'], location: 'Hill' })
    expect((await edit({ tags: [], location: 'Hill' })).body).toMatchObject({ tags: [] })
    expect(await audited()).toEqual([`gateway.tag ${barn}`, `gateway.edit ${barn}`, `gateway.tag ${barn}`])
  })

  it('select gateways, alone and with a search, and a search finds them', async () => {
    await insertTestGateway(hub.db, { name: 'Gate' })
    await tag({ ids: [barn, mill], add: ['a_b'] })
    // With a 1, which no gateway's id has: ids are searched too.
    await tag({ ids: [barn], add: ['a1b'] })
    expect(await listed({ tag: 'A_b' })).toEqual(['Barn a1b a_b', 'Mill a_b'])
    expect(await listed({ tag: 'a1b' })).toEqual(['Barn a1b a_b'])
    expect(await listed({ tag: 'a' })).toEqual([])
    expect(await listed({ tag: 'a_b', q: 'mill' })).toEqual(['Mill a_b'])
    expect(await listed({ q: 'a1b' })).toEqual(['Barn a1b a_b'])
    expect(await listed({ tag: 'a_b', limit: 1 })).toEqual(['Barn a1b a_b'])
  })

  it('are changed by managers, and seen by everybody who may see the gateway', async () => {
    await tag({ ids: [barn, mill], add: ['north'] })
    const user = await hub.signIn('user')
    const refused = await api(contract.tagGateways, { token: user, body: { ids: [barn], add: ['x'] } })
    expect(refused.body).toMatchObject({ error: 'role_required' })
    const { id } = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-user')
      .executeTakeFirstOrThrow()
    await hub.db.updateTable('gateways').set(ownedBy(id)).where('id', '=', mill).execute()
    const own = (await api(contract.listGateways, { token: user, query: { tag: 'north' } })).body as contract.Gateway[]
    expect(own.map(({ name, tags }) => [name, tags])).toEqual([['Mill', ['north']]])
  })
})
