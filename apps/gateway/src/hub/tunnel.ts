import { performance } from 'node:perf_hooks'
import { createStack, type Stack, type TcpStream } from '@hedgerow/netstack/node'
import { parsePresharedKey, parsePublicKey, type PrivateKey } from '@hedgerow/wireguard'
import { openInterface, type WireGuardInterface } from '@hedgerow/wireguard/node'
import type { HandshakeClock } from './handshake-clock.ts'
import type { Approval } from './approval.ts'
import { createBackoff, createPause } from './backoff.ts'
import { inWords } from './failure.ts'
import type { Conditions } from './conditions.ts'
import type { NameService } from './name-service.ts'

/**
 * The one tunnel of an approved device: WireGuard on a UDP socket, TCP/IP above it, the hub as the only peer. It tries
 * the hub's endpoints in order until one shakes hands, and asks for their addresses anew when the hub falls silent,
 * because a hub that moved is found again only that way. Nothing but the hub's own address is routed into it.
 */
export type Tunnel = {
  /** Ours, inside the tunnel. */
  address: string
  hubAddress: string
  /** Whether a handshake is recent enough for traffic. */
  isUp(): boolean
  /** TCP to a port of the hub's tunnel address. */
  connect(port: number): TcpStream
  /** Accepts TCP from the hub. */
  listen(port: number, onStream: (stream: TcpStream) => void): void
  /** The hub does not answer although it should: shake hands again now. */
  retry(): void
  stop(): Promise<void>
}

export type TunnelOptions = {
  approval: Approval
  privateKey: PrivateKey
  names: NameService
  conditions: Conditions
  /** As `InterfaceOptions` has it. */
  offload: boolean
  /** Its wall clock is that of the initiations. */
  clock: HandshakeClock['now']
  /** A silence has ended, or the hub shook hands of its own accord. */
  onUp(): void
}

/** The default of wg-quick: an IPv6 path of 1,500 bytes less WireGuard's overhead. */
const TUNNEL_MTU = 1_420
/**
 * A live session is renewed after 120 s (WireGuard §6.1) when a keepalive goes out; a renewal later than this is
 * silence.
 */
const SILENCE_AFTER_MS = 155_000
const SILENCE_CHECK_MS = 5_000
/**
 * Routine renewals come 120 s after the last handshake (WireGuard §6.1); a sooner one means that the hub started anew.
 */
const ROUTINE_RENEWAL_MS = 115_000
/** How long an address may take to shake hands, at first and in later rounds, when the way may be slow. */
const FIRST_ATTEMPT_MS = 2_500
const LATER_ATTEMPT_MS = 5_500

/** Rejects with Node's own error when no UDP socket can be had. */
export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { approval, names, conditions } = options
  const hubKey = parsePublicKey(approval.hubPublicKey)
  const presharedKey = parsePresharedKey(approval.presharedKey)
  if (!hubKey || !presharedKey) throw new Error('the hub sent a WireGuard key that is not one')
  const stopping = new AbortController()
  const rest = createPause(stopping.signal)
  const shaken = createPause(stopping.signal)
  let handshakeAtMs: number | undefined
  let isForced = false
  let isTrying = false

  const network: WireGuardInterface = await openOnAnyFamily({
    privateKey: options.privateKey,
    offload: options.offload,
    clock: options.clock,
    onPacket: (packet) => stack.receive(packet),
    onHandshake: () => {
      const sinceLastMs = performance.now() - (handshakeAtMs ?? performance.now())
      handshakeAtMs = performance.now()
      shaken.wake()
      rest.wake()
      if (!isTrying && sinceLastMs < ROUTINE_RENEWAL_MS) options.onUp()
    },
  })
  const stack: Stack = createStack({
    address: approval.assignedIp,
    mtu: TUNNEL_MTU,
    isAuthenticated: true,
    send: (packet) => network.send(packet),
  })
  const peer = {
    publicKey: hubKey,
    presharedKey,
    allowedIps: [`${approval.hubVpnIp}/32`],
    persistentKeepaliveSeconds: approval.keepaliveSeconds,
  }
  try {
    network.addPeer(peer)
  } catch (error) {
    stack.close()
    await network.close()
    throw error
  }

  const isUp = () => handshakeAtMs !== undefined && performance.now() - handshakeAtMs < SILENCE_AFTER_MS

  /** Whether the hub shook hands while this address was tried. */
  async function attempt(address: string, port: number, limitMs: number): Promise<boolean> {
    const startedAtMs = performance.now()
    const hasShaken = () => handshakeAtMs !== undefined && handshakeAtMs >= startedAtMs
    // A peer added anew shakes hands at once; one that is only moved would wait for its next retry, up to 5 s away.
    network.removePeer(hubKey!)
    network.addPeer({ ...peer, endpoint: { address, port } })
    network.handshake(hubKey!)
    while (!stopping.signal.aborted && !hasShaken()) {
      const leftMs = startedAtMs + limitMs - performance.now()
      if (leftMs <= 0) return false
      await shaken.pause(leftMs)
    }
    return hasShaken()
  }

  /** Undefined after a handshake, else why there was none. */
  async function tryEndpoints(limitMs: number): Promise<string | undefined> {
    const failures: string[] = []
    for (const endpoint of approval.endpoints) {
      const { host, port } = parseEndpoint(endpoint)
      try {
        for (const { address } of await names.addresses(host)) {
          if (stopping.signal.aborted || (await attempt(address, port, limitMs))) return undefined
        }
        failures.push(`${endpoint}: the hub's WireGuard does not answer (is UDP blocked?)`)
      } catch (error) {
        failures.push(`${endpoint}: ${inWords(error)}`)
      }
    }
    return failures.join('; ') || 'the hub names no endpoint for its WireGuard'
  }

  async function keepUp(): Promise<void> {
    const backoff = createBackoff({ firstMs: 1_000, maxMs: 30_000 })
    let wasUp = false
    let failedRounds = 0
    while (!stopping.signal.aborted) {
      if (isUp() && !isForced) {
        if (!wasUp) {
          wasUp = true
          failedRounds = 0
          backoff.reset()
          conditions.done('tunnelUp', `as ${approval.assignedIp}, hub ${approval.hubVpnIp}`)
          options.onUp()
        }
        await rest.pause(SILENCE_CHECK_MS)
        continue
      }
      wasUp = isUp()
      isForced = false
      isTrying = true
      const failure = await tryEndpoints(failedRounds === 0 ? FIRST_ATTEMPT_MS : LATER_ATTEMPT_MS)
      isTrying = false
      if (failure === undefined || stopping.signal.aborted || isUp()) continue
      failedRounds += 1
      conditions.failed('tunnelUp', failure)
      await rest.pause(backoff.next())
    }
  }

  conditions.waiting('tunnelUp', `Shaking hands with ${approval.endpoints.join(', ')}`)
  // Ends by itself once stopped; a name that is being looked up must not hold the stop up.
  void keepUp()
  return {
    address: approval.assignedIp,
    hubAddress: approval.hubVpnIp,
    isUp,
    connect: (port) => stack.connect({ host: approval.hubVpnIp, port }),
    listen: (port, onStream) => void stack.listen({ port }, onStream),
    retry() {
      isForced = true
      rest.wake()
    },
    async stop() {
      stopping.abort()
      stack.close()
      await network.close()
    },
  }
}

/** IPv6 and IPv4 on one socket where the device has both. */
async function openOnAnyFamily(options: Parameters<typeof openInterface>[0]): Promise<WireGuardInterface> {
  try {
    return await openInterface({ ...options, host: '::' })
  } catch {
    return openInterface(options)
  }
}

/** `host:port` or `[IPv6]:port`, as the contract gives it. */
export function parseEndpoint(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':')
  return { host: endpoint.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(endpoint.slice(colon + 1)) }
}
