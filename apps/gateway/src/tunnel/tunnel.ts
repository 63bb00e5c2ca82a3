import { performance } from 'node:perf_hooks'
import { createStack, type Stack, type TcpStream } from '@hedgerow/netstack/node'
import { parsePresharedKey, parsePublicKey, type PrivateKey } from '@hedgerow/wireguard'
import { openInterface, type DatagramSocket, type WireGuardInterface } from '@hedgerow/wireguard/node'
import type { HandshakeClock } from './handshake-clock.ts'
import type { Approval } from './approval.ts'
import { createBackoff, createPause } from '../kernel/backoff.ts'
import { inWords } from '../kernel/failure.ts'
import type { Conditions } from '../kernel/conditions.ts'
import type { NameService } from '../kernel/name-service.ts'

/**
 * The tunnel of an approved device: WireGuard on a UDP socket, TCP/IP above it, the hub as the only peer. It tries the
 * hub's endpoints in order until one answers the handshake. When the hub falls silent, it resolves the names again,
 * because the hub may have moved. Only the hub's own address is routed into it.
 */
export type Tunnel = {
  /** This device's address in the tunnel. */
  address: string
  hubAddress: string
  /** Whether a handshake is recent enough for traffic. */
  isUp(): boolean
  /** TCP to a port of the hub's tunnel address. */
  connect(port: number): TcpStream
  /** Accepts TCP from the hub. */
  listen(port: number, onStream: (stream: TcpStream) => void): void
  /** Whether anything came from the hub through the tunnel, or a handshake, since that time of `performance.now()`. */
  hasHeardSince(ms: number): boolean
  /** Begins a new handshake now, because the hub does not answer. */
  retry(): void
  stop(): Promise<void>
}

export type TunnelOptions = {
  approval: Approval
  privateKey: PrivateKey
  names: NameService
  conditions: Conditions
  /** As in `InterfaceOptions`. */
  offload: boolean
  /** As in `InterfaceOptions`. */
  openSocket?: (() => DatagramSocket) | undefined
  /** The initiations use its wall clock. */
  clock: HandshakeClock['now']
  /** Called when a silence ends, or when the hub starts a handshake. */
  onUp(): void
}

/** The default of wg-quick: an IPv6 path of 1,500 bytes less WireGuard's overhead. */
const TUNNEL_MTU = 1_420
/**
 * A live session is renewed after 120 s (WireGuard §6.1) when a keepalive goes out; without a renewal by this time, the
 * hub is silent.
 */
const SILENCE_AFTER_MS = 155_000
const SILENCE_CHECK_MS = 5_000
/**
 * Routine renewals come 120 s after the last handshake (WireGuard §6.1); an earlier one means that the hub restarted.
 */
const ROUTINE_RENEWAL_MS = 115_000
/** How long an address may take for a handshake; later rounds allow for a slow network. */
const FIRST_ATTEMPT_MS = 2_500
const LATER_ATTEMPT_MS = 5_500

/** Rejects with Node's error when no UDP socket can be opened. */
export async function openTunnel(options: TunnelOptions): Promise<Tunnel> {
  const { approval, names, conditions } = options
  const hubKey = parsePublicKey(approval.hubPublicKey)
  const presharedKey = parsePresharedKey(approval.presharedKey)
  if (!hubKey || !presharedKey) throw new Error('the hub sent an invalid WireGuard key')
  const stopping = new AbortController()
  const rest = createPause(stopping.signal)
  const shaken = createPause(stopping.signal)
  let handshakeAtMs: number | undefined
  let packetAtMs = -Infinity
  let isForced = false
  let isTrying = false

  const network: WireGuardInterface = await openOnAnyFamily({
    privateKey: options.privateKey,
    offload: options.offload,
    clock: options.clock,
    ...(options.openSocket && { openSocket: options.openSocket }),
    onPacket(packet) {
      packetAtMs = performance.now()
      stack.receive(packet)
    },
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

  /** Whether the hub completed a handshake while this address was tried. */
  async function attempt(address: string, port: number, limitMs: number): Promise<boolean> {
    const startedAtMs = performance.now()
    const hasShaken = () => handshakeAtMs !== undefined && handshakeAtMs >= startedAtMs
    // A new peer begins a handshake at once; a moved peer would wait up to 5 s for its next retry.
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

  /** Returns undefined after a handshake, else the reason why there was none. */
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
  // Not awaited on stop: a pending DNS query must not delay the stop, and the loop ends by itself.
  void keepUp()
  return {
    address: approval.assignedIp,
    hubAddress: approval.hubVpnIp,
    isUp,
    connect: (port) => stack.connect({ host: approval.hubVpnIp, port }),
    listen: (port, onStream) => void stack.listen({ port }, onStream),
    hasHeardSince: (ms) => Math.max(packetAtMs, handshakeAtMs ?? -Infinity) >= ms,
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

/** Opens one socket for IPv6 and IPv4 where the device has both. */
async function openOnAnyFamily(options: Parameters<typeof openInterface>[0]): Promise<WireGuardInterface> {
  try {
    return await openInterface({ ...options, host: '::' })
  } catch {
    return openInterface(options)
  }
}

/** `host:port` or `[IPv6]:port`, as in the contract. */
export function parseEndpoint(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':')
  return { host: endpoint.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(endpoint.slice(colon + 1)) }
}
