import { GATEWAY, HUB, datagramOf, openDevice } from './wireguard-device-pair.ts'
import { rounded } from './report.ts'

const HANDSHAKES = 1_500

/**
 * Whole handshakes in memory, timed on each side. The initiator's share is its initiation, reading the response and the
 * keepalive that confirms; the responder's is its response, and reading that keepalive.
 */
export function measureHandshakes(): Record<string, Record<string, number>> {
  const now = { monotonicMs: 1_000, unixMs: Date.now() }
  const hub = openDevice()
  const gateways = Array.from({ length: HANDSHAKES }, () => openDevice())
  for (const [index, gateway] of gateways.entries()) {
    const address = `10.1.${index >> 8}.${index & 0xff}/32`
    hub.addPeer({ publicKey: gateway.publicKey, allowedIps: [address] })
    gateway.addPeer({ publicKey: hub.publicKey, allowedIps: ['10.0.0.1/32'], endpoint: HUB })
    gateway.handshake(hub.publicKey, now)
  }

  let mark = performance.now()
  /** Milliseconds since the last call. */
  const lap = (): number => {
    const before = mark
    mark = performance.now()
    return mark - before
  }
  const initiations = gateways.map((gateway) => datagramOf(gateway.tick(now)))
  const initiatingMs = lap()
  const responses = initiations.map((initiation) => datagramOf(hub.receive(initiation, GATEWAY, now)))
  const respondingMs = lap()
  const keepalives = gateways.map((gateway, index) => datagramOf(gateway.receive(responses[index]!, HUB, now)))
  const finishingMs = lap()
  for (const keepalive of keepalives) hub.receive(keepalive, GATEWAY, now)
  const confirmingMs = lap()

  const row = (ms: number) => ({
    us: rounded((ms / HANDSHAKES) * 1000),
    'per second': rounded((HANDSHAKES / ms) * 1000),
  })
  return {
    'handshakes, as initiator': row(initiatingMs + finishingMs),
    'handshakes, as responder': row(respondingMs + confirmingMs),
  }
}
