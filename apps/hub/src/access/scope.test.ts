import { role, type Role } from '@hedgerow/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { findGateway, gatewayIdsIn, gatewaysIn, visibleGatewayIds } from './objects.ts'
import { ownedBy } from './ownership.ts'
import { policy } from './policy.ts'
import { leastRole, SCOPED, scopeOf } from './scope.ts'

describe.each(testEngines)('a scope on %s', (engine) => {
  let hub: TestHub
  const people: string[] = []
  beforeAll(async () => {
    hub = await startTestHub(engine)
    for (const name of ['rosa', 'emil', 'mona']) people.push(await hub.addUser(name, 'user', 'gravel-lantern-42'))
  })
  afterAll(() => hub.stop())

  it('has the same gateways by its condition and by its answer for each, whoever owns them', async () => {
    const owner = fc.option(fc.nat({ max: 2 }))
    await fc.assert(
      fc.asyncProperty(fc.array(owner, { maxLength: 8 }), fc.nat({ max: 2 }), fc.constantFrom(...role.options), check),
      { numRuns: 40 },
    )
  })

  async function check(owners: (number | null)[], person: number, as: Role): Promise<void> {
    await hub.db.deleteFrom('gateways').execute()
    for (const one of owners) await insertTestGateway(hub.db, ownedBy(one === null ? null : people[one]!))
    const scope = scopeOf({ userId: people[person]!, role: as })
    const all = await hub.db
      .selectFrom('gateways')
      .select(['id', ...SCOPED])
      .orderBy('id')
      .execute()
    const answered = all.filter(scope.has).map(({ id }) => id)
    const selected = await gatewaysIn(hub.db, scope).select('gateways.id').orderBy('gateways.id').execute()
    expect(selected.map(({ id }) => id)).toEqual(answered)
    expect([...((await gatewayIdsIn(hub.db, scope)) ?? all.map(({ id }) => id))].toSorted()).toEqual(answered)
    expect([...(await visibleGatewayIds(hub.db, scope, ['gone', ...all.map(({ id }) => id)]))].toSorted()).toEqual(
      answered,
    )
    for (const { id } of all) {
      const found = await findGateway(hub.db, scope, id).catch((error: unknown) => error)
      expect(found).toMatchObject(answered.includes(id) ? { id } : { code: 'gateway_not_found' })
    }
  }
})

it('of two people has one key exactly when they see the same', () => {
  const keyOf = (userId: string, as: Role) => scopeOf({ userId, role: as }).key
  expect(keyOf('a', 'user')).not.toBe(keyOf('b', 'user'))
  expect(keyOf('a', 'manager')).toBe(keyOf('b', 'admin'))
  expect(keyOf('a', 'manager')).not.toBe(keyOf('a', 'user'))
})

it('has every capability of the policy from its least role on', () => {
  const ranks = role.options
  for (const access of Object.values(policy)) {
    if (typeof access === 'string') continue
    const may = ranks.filter((one) => scopeOf({ userId: 'a', role: one }).may(access))
    expect(may).toEqual(ranks.slice(ranks.indexOf(leastRole(access))))
  }
})

it('is asked by every call with an id', () => {
  const withId = Object.entries(policy).filter(([call]) => call.includes('/:id'))
  expect(withId.length).toBeGreaterThan(30)
  for (const [call, access] of withId) expect(access, call).toBeTypeOf('object')
})
