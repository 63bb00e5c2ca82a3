import type { Device, Now, Output, PrivateKey } from '@hedgerow/wireguard'
import { createDevice } from '@hedgerow/wireguard'
import { generateKeyPair, nodeCrypto } from '@hedgerow/wireguard/node'

export const HUB = { address: '192.0.2.1', port: 51_820 }
export const GATEWAY = { address: '192.0.2.2', port: 51_820 }

/** Cookies would halve the result. */
const NO_LIMIT = Number.POSITIVE_INFINITY

export function openDevice(privateKey: PrivateKey = generateKeyPair().privateKey): Device {
  return createDevice({ privateKey, crypto: nodeCrypto, handshakesPerSecond: NO_LIMIT })
}

/** The first datagram among a device's outputs. */
export function datagramOf(outputs: Output[]): Uint8Array {
  for (const output of outputs) if (output.type === 'datagram') return output.data
  throw new Error(`no datagram among ${JSON.stringify(outputs.map(({ type }) => type))}`)
}

/** Two devices in memory with a session between them; the gateway is 10.0.0.2, the hub 10.0.0.1. */
export function connectedPair(now: Now): { hub: Device; gateway: Device } {
  const [hub, gateway] = [openDevice(), openDevice()]
  hub.addPeer({ publicKey: gateway.publicKey, allowedIps: ['10.0.0.2/32'] })
  gateway.addPeer({ publicKey: hub.publicKey, allowedIps: ['10.0.0.1/32'], endpoint: HUB })
  gateway.handshake(hub.publicKey, now)
  const response = hub.receive(datagramOf(gateway.tick(now)), GATEWAY, now)
  const keepalive = gateway.receive(datagramOf(response), HUB, now)
  hub.receive(datagramOf(keepalive), GATEWAY, now)
  return { hub, gateway }
}
