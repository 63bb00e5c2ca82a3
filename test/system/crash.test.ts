import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { approveRegistration, listGateways, listPendingRegistrations } from '@hedgerow/contract'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { withDatabase } from '../harness/hub-database.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { waitFor } from '../harness/wait-for.ts'

const GATEWAYS = 6
const BACK_WITHIN_MS = 5_000
/** A hub starts in less on an idle machine. On a busy one the tunnels may take as many times longer as the start did. */
const START_MS = 1_000

describe('a hub that is killed while registrations are being approved', () => {
  let hub: Hub
  let gateways: TestGateway[]
  /** How long the tunnels took, each as a share of what they may take. */
  const shares: number[] = []

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

  /** Approves one after the other until the hub is gone; gives the names whose approval was answered. */
  async function approveUntilKilled(killAfterMs: number): Promise<string[]> {
    const pending = await hub.api(listPendingRegistrations)
    const killed = new Promise<void>((resolve) => setTimeout(() => void hub.kill9().then(resolve), killAfterMs))
    const answered: string[] = []
    for (const { registrationId, deviceName } of pending) {
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

  // The approvals take some tens of milliseconds together, so the kills fall before, between and after them.
  test.each([2, 15, 40, 80, 300].map((limitMs) => ({ killAfterMs: Math.round(limitMs * Math.random()) })))(
    'loses no approval and has the approved gateways back (killed after $killAfterMs ms)',
    async ({ killAfterMs }) => {
      const answered = await approveUntilKilled(killAfterMs)

      const startedAtMs = performance.now()
      await hub.restart()
      const restartedAtMs = performance.now()
      const allowedMs = BACK_WITHIN_MS * Math.max(1, (restartedAtMs - startedAtMs) / START_MS)
      const approved = await hub.api(listGateways)
      const pending = await hub.api(listPendingRegistrations)
      const back = await Promise.all(
        approved.map(({ id, name }) => waitFor(() => gatewayIdBehind(id), { for: `${name} to be back in its tunnel` })),
      )
      if (approved.length > 0) shares.push((performance.now() - restartedAtMs) / allowedMs)

      expect(back).toEqual(approved.map(({ id }) => id))
      const approvedNames = approved.map(({ name }) => name)
      expect(approvedNames).toEqual(expect.arrayContaining(answered))
      expect(sorted([...approvedNames, ...pending.map(({ deviceName }) => deviceName)])).toEqual(
        sorted(gateways.map(({ name }) => name)),
      )
      await expectOneOfEach(hub, approved.length)
    },
  )

  test('had them back within 5 s, as a rule', () => {
    const median = shares.toSorted((a, b) => a - b)[Math.floor(shares.length / 2)]
    expect(median ?? 0).toBeLessThan(1)
  })

  test('approves the ones that were left over afterwards, each with an address of its own', async () => {
    await approveUntilKilled(20)
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
