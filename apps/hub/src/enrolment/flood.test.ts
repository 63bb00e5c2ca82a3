import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestDevice, newKeys } from '#testing/device.ts'

/** Many times what the hub takes from all strangers at once. */
const FLOOD = 3_000

describe('thousands of requests to enrol', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    // The limits must not refill during the flood.
    hub.clock.freeze()
  })
  afterAll(() => hub.stop())

  const { identity, publicKey } = newKeys()
  const payload = { identityPublicKey: identity.publicKey, wireguardPublicKey: publicKey }
  /** How many of the flood's requests got each status. */
  async function flood(addressOf: (i: number) => string): Promise<Map<number, number>> {
    const counts = new Map<number, number>()
    for (let i = 0; i < FLOOD; i++) {
      const request = { method: 'POST' as const, url: '/api/v1/gateway/register/challenge', payload }
      const { statusCode } = await hub.app.inject({ ...request, remoteAddress: addressOf(i) })
      counts.set(statusCode, (counts.get(statusCode) ?? 0) + 1)
    }
    return counts
  }
  const enter = async (from: string) =>
    (await createTestDevice(hub.app, { from, now: hub.clock.now }).register()).status

  it('from one address are refused except for a few; a device elsewhere gets through meanwhile', async () => {
    const counts = await flood(() => '198.51.100.1')
    expect([...counts.keys()].toSorted()).toEqual([200, 429])
    expect(counts.get(429)).toBeGreaterThan(FLOOD * 0.95)
    expect(await enter('203.0.113.1')).toBe(202)
  }, 120_000)

  it('from as many addresses are refused above the hub’s total limit; soon after, a device gets through', async () => {
    const counts = await flood((i) => `10.${1 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`)
    expect([...counts.keys()].toSorted()).toEqual([200, 429])
    hub.clock.advance(60_000)
    expect(await enter('203.0.113.2')).toBe(202)
    expect(await hub.db.selectFrom('registrations').select('id').execute()).toHaveLength(2)
  }, 120_000)
})
