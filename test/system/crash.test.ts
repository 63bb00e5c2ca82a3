import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { withDatabase } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const GATEWAYS = 6

type Kill = { answers: number; killAfterMs: number }

describe('a hub that is killed while registrations are being approved', () => {
  let hub: Hub
  let gateways: TestGateway[]

  beforeEach(async () => {
    hub = await startHub()
    gateways = await Promise.all(
      Array.from({ length: GATEWAYS }, (_, index) => startGateway(hub, { name: `Gate ${index + 1}` })),
    )
    await waitFor(async () => (await hub.api(listPendingRegistrations)).length === GATEWAYS, {
      for: 'every gateway to wait for approval',
    })
  })

  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()))
    await hub.stop()
  })

  /**
   * Approves one after the other and kills the hub `killAfterMs` into the next one after `answers`; returns the names
   * with an answer.
   */
  async function approveUntilKilled({ answers, killAfterMs }: Kill): Promise<string[]> {
    const pending = await hub.api(listPendingRegistrations)
    const answered: string[] = []
    let killed: Promise<void> | undefined
    for (const { registrationId, deviceName } of pending) {
      if (answered.length === answers) killed ??= sleep(killAfterMs).then(() => hub.kill9())
      try {
        await hub.api(approveRegistration, { params: { registrationId } })
        answered.push(deviceName)
      } catch {
        break
      }
    }
    await killed
    return answered
  }

  /** The gateway's own health through its tunnel: the right peer at the right address, or it throws. */
  async function gatewayIdBehind(id: string): Promise<unknown> {
    const ui = await openGatewayUi(hub.url, hub.api, id)
    const { status, text } = await ui.send('/api/health')
    return status === 200 ? (JSON.parse(text) as { gatewayId: unknown }).gatewayId : undefined
  }

  // An approval takes some milliseconds, so the kills hit before, during and after its commit.
  test.each<Kill>([
    { answers: 0, killAfterMs: 0 },
    { answers: 1, killAfterMs: 4 },
    { answers: 2, killAfterMs: 8 },
    { answers: 3, killAfterMs: 16 },
    { answers: GATEWAYS - 1, killAfterMs: 150 },
  ])(
    'loses no approval and has the approved gateways back (killed $killAfterMs ms after $answers approvals)',
    async (kill) => {
      const answered = await approveUntilKilled(kill)

      await hub.restart()
      const approved = await hub.api(listGateways)
      const pending = await hub.api(listPendingRegistrations)
      const back = await Promise.all(
        approved.map(({ id, name }) => waitFor(() => gatewayIdBehind(id), { for: `${name} to be back in its tunnel` })),
      )

      expect(back).toEqual(approved.map(({ id }) => id))
      const approvedNames = approved.map(({ name }) => name)
      expect(approvedNames).toEqual(expect.arrayContaining(answered))
      expect(sorted([...approvedNames, ...pending.map(({ deviceName }) => deviceName)])).toEqual(
        sorted(gateways.map(({ name }) => name)),
      )
      await expectOneOfEach(hub, approved.length)
    },
  )

  test('approves the remaining ones afterwards, each with an address of its own', async () => {
    await approveUntilKilled({ answers: 1, killAfterMs: 4 })
    await hub.restart()
    for (const { registrationId } of await hub.api(listPendingRegistrations))
      await hub.api(approveRegistration, { params: { registrationId } })
    await waitFor(
      async () => (await hub.api(listGateways)).filter(({ status }) => status === 'online').length === GATEWAYS,
      {
        for: 'every gateway to be online',
      },
    )
    expect(await hub.api(listPendingRegistrations)).toEqual([])
    await expectOneOfEach(hub, GATEWAYS)
  })
})

/** Each approved registration has one gateway, and no two gateways share an address or a key. */
async function expectOneOfEach(hub: Hub, count: number): Promise<void> {
  const { gateways, registrations } = await withDatabase(hub, async (db) => ({
    gateways: await db.selectFrom('gateways').select(['id', 'address', 'wireguard_public_key']).execute(),
    registrations: await db.selectFrom('registrations').select(['status', 'gateway_id']).execute(),
  }))
  expect(gateways).toHaveLength(count)
  expect(new Set(gateways.map(({ address }) => address)).size).toBe(count)
  expect(new Set(gateways.map(({ wireguard_public_key: key }) => key)).size).toBe(count)
  const decided = registrations.filter(({ status }) => status === 'approved').map(({ gateway_id: id }) => String(id))
  expect(sorted(decided)).toEqual(sorted(gateways.map(({ id }) => id)))
}

const sorted = (texts: string[]) => texts.toSorted((a, b) => a.localeCompare(b))
