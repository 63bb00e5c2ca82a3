import * as contract from '@hedgerow/contract'
import { ALERT_RULE_DEFAULTS, type Alert } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { inTransaction } from '../database/transaction.ts'
import { fieldsOf } from './alert-rules.ts'
import { report } from './alerts.ts'

const BATCH = 50

describe.each(testEngines)('a storm of detections on %s', (engine) => {
  let hub: TestHub
  let gatewayId: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    hub.clock.freeze()
    gatewayId = await insertTestGateway(hub.db, { name: 'Barn', location: 'Valley' })
  })
  afterEach(() => hub.stop())

  /**
   * Announces a batch of new incidents, one of which was reported twice; counts statements, and how often the label of
   * an incident is read.
   */
  async function costOf(name: string, gatewayIds = [gatewayId]): Promise<{ statements: number; labelsRead: number }> {
    const cost = { statements: 0, labelsRead: 0 }
    const at = hub.clock.now()
    const incidents = Array.from({ length: BATCH }, (_, index) => ({
      at,
      line: {
        kind: 'detection' as const,
        id: `${name} ${index}`,
        gatewayId: gatewayIds[index % gatewayIds.length]!,
        gatewayName: 'Barn',
        get label() {
          cost.labelsRead++
          return 'boar'
        },
        camera: 'orchard',
        detail: '',
        coverId: null,
        startedAt: at,
      },
      once: `${name} ${index}`,
    }))
    const counted = hub.db.withPlugin({
      transformQuery({ node }) {
        cost.statements++
        return node
      },
      transformResult: async ({ result }) => result,
    })
    await inTransaction(counted, (transaction) => report(transaction, [...incidents, incidents[0]!], hub.notifications))
    return cost
  }

  it('costs as much with 31 rules and of two gateways as with the one rule that covers it', async () => {
    const api = createTestApi(hub)
    const token = await hub.signIn('admin')
    const body = { ...ALERT_RULE_DEFAULTS, name: 'Every alert', collectSeconds: 600 }
    expect((await api(contract.updateAlertRule, { token, params: { id: 'every-alert' }, body })).status).toBe(200)
    const both = [gatewayId, await insertTestGateway(hub.db, { name: 'Mill', location: 'Valley' })]
    await costOf('begins the message', both)
    const withOneRule = await costOf('joins the message')
    expect((await api(contract.addSite, { token, body: { name: 'Hill' } })).status).toBe(200)
    for (let n = 0; n < 10; n++)
      for (const elsewhere of [{ sites: ['Hill'] }, { labels: ['fox'] }, { what: ['disk'] }]) {
        const other = { ...body, ...elsewhere, name: `Other ${n}` }
        expect((await api(contract.addAlertRule, { token, body: other })).status).toBe(200)
      }
    expect(await costOf('joins it among other rules', both)).toEqual(withOneRule)
    const [alert, ...others] = (await api(contract.listAlerts, { token, query: {} })).body as Alert[]
    expect(alert).toMatchObject({ count: 3 * BATCH })
    expect(others).toEqual([])
  })
})

it('the stored text of a rule is parsed once', () => {
  const fields = JSON.stringify({ name: 'Night', labels: ['boar'] })
  expect(fieldsOf({ fields })).toMatchObject({ name: 'Night', labels: ['boar'], enabled: true })
  expect(fieldsOf({ fields })).toBe(fieldsOf({ fields }))
})
