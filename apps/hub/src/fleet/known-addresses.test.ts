import { pino } from 'pino'
import { expect, test } from 'vitest'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub } from '#testing/hub.ts'
import { HUB, openFacts, record } from '../facts/facts.ts'
import { createKnownAddresses } from './known-addresses.ts'

const ADDRESS = '10.100.0.77'
const DELETED = { kind: 'gateway.deleted', at: 0, actor: HUB, data: { name: 'Barn', publicKey: '' } } as const

test('an address is looked up once, and again after a gateway was deleted', async () => {
  const hub = await startTestHub('sqlite')
  let reads = 0
  let meanwhile = async () => {}
  const db = hub.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      reads++
      await meanwhile()
      return result
    },
  })
  openFacts(db, { log: pino({ level: 'silent' }) })
  const gatewayAt = createKnownAddresses(db)
  const id = await insertTestGateway(hub.db, { address: ADDRESS })
  expect([await gatewayAt(ADDRESS), await gatewayAt(ADDRESS), reads]).toEqual([id, id, 1])

  await hub.db.deleteFrom('gateways').where('id', '=', id).execute()
  await record(db, DELETED)
  await expect(gatewayAt(ADDRESS)).rejects.toMatchObject({ code: 'gateway_unknown' })

  const next = await insertTestGateway(hub.db, { address: ADDRESS })
  meanwhile = async () => {
    meanwhile = async () => {}
    await hub.db.deleteFrom('gateways').where('id', '=', next).execute()
    await record(db, DELETED)
  }
  expect(await gatewayAt(ADDRESS), 'read before it was deleted').toBe(next)
  await expect(gatewayAt(ADDRESS)).rejects.toMatchObject({ code: 'gateway_unknown' })
  await hub.stop()
})
