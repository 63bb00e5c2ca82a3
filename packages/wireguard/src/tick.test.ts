import { expect, test } from 'vitest'
import { generateKeyPair } from './node/keys.ts'
import { createLink } from './simulator/link.ts'

test('of thousands of peers that are due at once, one tick starts a bounded number and leaves the rest due', () => {
  const link = createLink()
  for (let i = 0; i < 100; i++) {
    const { publicKey } = generateKeyPair()
    link.hub.device.addPeer({
      publicKey,
      allowedIps: [`10.1.0.${i}/32`],
      endpoint: { address: '203.0.113.9', port: 1000 + i },
      persistentKeepaliveSeconds: 25,
    })
  }
  const perTick: number[] = []
  for (let i = 0; i < 5; i++) perTick.push(link.tick(link.hub).length)
  expect(perTick).toEqual([32, 32, 32, 4, 0])
  expect(link.hub.device.nextDeadline()).toBeGreaterThan(link.now.monotonicMs)
})

test('of peers that are due and need no handshake, one tick looks at 512', () => {
  const link = createLink()
  for (let i = 0; i < 1_000; i++) {
    const { publicKey } = generateKeyPair()
    link.hub.device.addPeer({ publicKey, allowedIps: [], persistentKeepaliveSeconds: 25 })
  }
  const isDue = () => (link.hub.device.nextDeadline() ?? Infinity) <= link.now.monotonicMs
  link.tick(link.hub)
  expect(isDue()).toBe(true)
  link.tick(link.hub)
  expect(isDue()).toBe(false)
})
