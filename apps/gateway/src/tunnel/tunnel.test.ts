import { performance } from 'node:perf_hooks'
import { createStack, type Stack } from '@hedgerow/netstack/node'
import { parsePublicKey } from '@hedgerow/wireguard'
import { generateKeyPair, generatePresharedKey, openInterface } from '@hedgerow/wireguard/node'
import { expect, test, vi } from 'vitest'
import { createConditions } from '../kernel/conditions.ts'
import { createNameService } from '../kernel/name-service.ts'
import { openTunnel } from './tunnel.ts'

const HUB_ADDRESS = '10.100.0.1'
const GATEWAY_ADDRESS = '10.100.0.2'
const PORT = 8080

test('the hub is heard by a handshake and by each packet, and by nothing else', { timeout: 60_000 }, async () => {
  const keys = generateKeyPair()
  const presharedKey = generatePresharedKey()
  const network = await openInterface({
    host: '127.0.0.1',
    privateKey: generateKeyPair().privateKey,
    onPacket: (packet) => stack.receive(packet),
  })
  network.addPeer({ publicKey: parsePublicKey(keys.publicKey)!, presharedKey, allowedIps: [`${GATEWAY_ADDRESS}/32`] })
  const stack: Stack = createStack({ address: HUB_ADDRESS, send: (packet) => network.send(packet) })
  stack.listen({ port: PORT }, (stream) => stream.on('error', () => {}).resume())
  const beforeMs = performance.now()
  const tunnel = await openTunnel({
    approval: {
      gatewayId: 'abcdefghijkl',
      assignedIp: GATEWAY_ADDRESS,
      allowedIps: [],
      hubVpnIp: HUB_ADDRESS,
      hubIdentityPublicKey: '',
      hubPublicKey: network.publicKey,
      presharedKey,
      endpoints: [`127.0.0.1:${network.port}`],
      keepaliveSeconds: 25,
    },
    privateKey: keys.privateKey,
    names: createNameService([]),
    conditions: createConditions(() => {}),
    offload: true,
    clock: () => ({ monotonicMs: performance.now(), unixMs: Date.now() }),
    onUp() {},
  })
  try {
    await vi.waitFor(() => expect(tunnel.isUp()).toBe(true), { timeout: 20_000 })
    expect(tunnel.hasHeardSince(beforeMs)).toBe(true)

    const quietMs = performance.now()
    expect(tunnel.hasHeardSince(quietMs)).toBe(false)
    const stream = tunnel.connect(PORT).on('error', () => {})
    await vi.waitFor(() => expect(tunnel.hasHeardSince(quietMs)).toBe(true), { timeout: 20_000 })
    stream.destroy()
  } finally {
    await tunnel.stop()
    stack.close()
    await network.close()
  }
})
