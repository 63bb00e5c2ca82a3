import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { inTransaction } from '../database/transaction.ts'
import { allocateAddress } from './fleet.ts'

describe.each(testEngines)('the addresses of new gateways on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine)
  })
  afterAll(() => hub.stop())

  const add = () =>
    inTransaction(hub.db, async (transaction) => {
      const address = await allocateAddress(transaction)
      await insertTestGateway(transaction, { address })
      return address
    })
  const addInVain = () =>
    inTransaction(hub.db, async (transaction) => {
      await insertTestGateway(transaction, { address: await allocateAddress(transaction) })
      throw new Error('decided otherwise')
    }).catch(() => {})
  const remove = (...addresses: string[]) => hub.db.deleteFrom('gateways').where('address', 'in', addresses).execute()
  const numbered = (first: number, count: number) => Array.from({ length: count }, (_, i) => `10.100.0.${first + i}`)

  it('are always the lowest free ones: after failures, after deletions, and above a gap that was filled', async () => {
    const given: string[] = []
    for (let count = 0; count < 70; count++) given.push(await add())
    expect(given, 'one after the other').toEqual(numbered(2, 70))
    await addInVain()
    expect(await add(), 'after a failure').toBe('10.100.0.72')
    await remove('10.100.0.3')
    expect([await add(), await add()], 'after a deletion').toEqual(['10.100.0.3', '10.100.0.73'])
    await addInVain()
    await remove('10.100.0.40', '10.100.0.41')
    expect([await add(), await add(), await add()]).toEqual(['10.100.0.40', '10.100.0.41', '10.100.0.74'])
    await remove('10.100.0.74', '10.100.0.5')
    await hub.db.transaction().execute((transaction) => insertTestGateway(transaction, { address: '10.100.0.5' }))
    expect(await add(), 'beside a gateway that something else added').toBe('10.100.0.74')
  })
})
