/**
 * A device on one UDP socket and one timer. It performs the device's outputs and adds nothing to the protocol; the
 * hub's embedded VPN and the gateway's tunnel open it. Errors of single datagrams (ICMP unreachable, no route) end
 * neither socket nor tunnel: the protocol's own retries cover them.
 */

import { createSocket } from 'node:dgram'
import type { RemoteInfo, Socket } from 'node:dgram'
import { once, type EventEmitter } from 'node:events'
import { isIP } from 'node:net'
import type { PeerConfig, PeerStatus, PeerTraffic } from '../configuration.ts'
import { createDevice } from '../device.ts'
import type { PrivateKey, PublicKey } from '../keys.ts'
import type { DropCounts, DropReason } from '../drops.ts'
import type { Endpoint, Now, Output } from '../outputs.ts'
import { nodeCrypto, portableCrypto } from './crypto.ts'
import { createSlab } from '../slab.ts'
import { createHandshakeQueue, isHandshakeMessage } from './handshake-queue.ts'
import type { ReceiveWaiting } from './receive-waiting.ts'
import { openReceiveWaiting } from './receive-waiting.ts'
import { descriptorOf } from './socket-descriptor.ts'
import type { Outgoing, SegmentationOffload } from './segmentation-offload.ts'
import { openSegmentationOffload } from './segmentation-offload.ts'

const RECEIVE_BUFFER_BYTES = 4 * 1024 * 1024
/** The longest time of setTimeout; after it a longer wait is checked again. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1
const MAPPED_V4 = '::ffff:'

/** The part of a UDP socket that the interface uses: Node's own, or a simulated one. */
export type DatagramSocket = EventEmitter & {
  bind(to: { port: number; address: string }): unknown
  address(): { port: number }
  setRecvBufferSize(bytes: number): void
  /** Calls with an address, never with a name. */
  send(data: Uint8Array, port: number, address: string): void
  close(): unknown
}

export type InterfaceOptions = {
  privateKey: PrivateKey
  /** UDP port; 0 or absent takes a free one. */
  port?: number
  /** Local address, by default `0.0.0.0`. `::` listens on IPv6 and IPv4 both. */
  host?: string
  /**
   * Largest inner packet that fits the path in one datagram, 1420 by default: padding stops there. Larger ones are sent
   * too.
   */
  mtu?: number
  /**
   * When false, there are no native calls: every datagram takes a system call of its own, also where Linux could
   * handle many at once, and the AEAD is the portable one. Default: true.
   */
  offload?: boolean
  /** Authenticated, from an allowed address; a whole IP packet that the callback then owns. Must not throw. */
  onPacket(packet: Uint8Array, peer: PublicKey): void
  /** A session was confirmed, as initiator or responder. */
  onHandshake?(peer: PublicKey, endpoint: Endpoint): void
  onDrop?(reason: DropReason): void
  /** Opens a socket of a simulated network. `offload` must be off, because it needs a socket of Node. */
  openSocket?(): DatagramSocket
  /** Both clocks, for tests that move time. */
  clock?(): Now
}

export type WireGuardInterface = {
  publicKey: PublicKey
  port: number
  /** Routes one IP packet by its destination. The caller may overwrite it afterwards. */
  send(packet: Uint8Array): void
  /** Throws ConfigError `peer-exists` when the key is already a peer. */
  addPeer(config: PeerConfig): void
  /** Adds the peer or replaces its configuration; live sessions stay unless the preshared key changed. */
  updatePeer(config: PeerConfig): void
  /** Silent at once, keys erased. */
  removePeer(publicKey: PublicKey): void
  /** Starts an initiation now if the peer's endpoint is known and none went out within 5 s. */
  handshake(publicKey: PublicKey): void
  peer(publicKey: PublicKey): PeerStatus | undefined
  peers(): PeerStatus[]
  traffic(): Map<PublicKey, PeerTraffic>
  /** Every drop since the interface was opened, by reason; a copy. */
  drops(): DropCounts
  /** Closes the socket and erases every key. Later sends do nothing; peers and traffic stay readable as they were. */
  close(): Promise<void>
}

/**
 * Binds the socket; rejects with Node's own error (`EADDRINUSE`, `EACCES`) when it cannot, and with a ConfigError on a
 * bad key.
 */
export async function openInterface(options: InterfaceOptions): Promise<WireGuardInterface> {
  const clock = options.clock ?? systemClock
  const slab = createSlab()
  const device = createDevice({
    slab,
    privateKey: options.privateKey,
    crypto: options.offload === false ? portableCrypto : nodeCrypto,
    ...(options.mtu === undefined ? {} : { mtu: options.mtu }),
  })
  const socket: DatagramSocket = options.openSocket?.() ?? openSocket(options.host)
  const toSocketAddress = isDualStack(options.host) && !options.openSocket ? mapV4 : (address: string) => address
  let isOpen = true
  let timer: NodeJS.Timeout | undefined
  let timerAtMs = Number.POSITIVE_INFINITY
  const handshakes = createHandshakeQueue(receive, refuseHandshake)
  let refusedHandshakes = 0
  let outgoing: Outgoing[] = []
  let offload: SegmentationOffload | undefined
  let receiveWaiting: ReceiveWaiting | undefined
  let last: { from: Endpoint | undefined; endpoint: Endpoint } = { from: undefined, endpoint: { address: '', port: 0 } }
  let now: Now | undefined
  /** The peers as they were when the interface closed. */
  let lastPeers: Map<PublicKey, PeerStatus> | undefined

  /** What happens in one callback has one time: reading the clock for each packet would cost more. */
  function instant(): Now {
    if (now === undefined) {
      now = clock()
      queueMicrotask(() => (now = undefined))
    }
    return now
  }

  function perform(outputs: Output[]): void {
    for (const output of outputs) {
      switch (output.type) {
        case 'datagram':
          if (outgoing.length === 0) queueMicrotask(sendOutgoing)
          outgoing.push(output)
          break
        case 'packet':
          options.onPacket(output.data, output.peer)
          break
        case 'handshake':
          options.onHandshake?.(output.peer, output.endpoint)
          break
        case 'drop':
          options.onDrop?.(output.reason)
          break
      }
      // A callback may have closed the interface.
      if (!isOpen) return
    }
    schedule()
  }

  /**
   * Sends the output of one callback together, in as few system calls as possible, so that a receiver wakes once for
   * all of it.
   */
  function sendOutgoing(): void {
    const batch = outgoing
    outgoing = []
    if (!isOpen) return
    // Without a callback, which would cost a tick for each packet: UDP may lose a datagram anywhere.
    const left = offload?.send(batch) ?? batch
    for (const { data, to } of left) socket.send(data, to.port, toSocketAddress(to.address))
    // The socket may hold what it could not send yet; what left together was copied.
    if (left.length > 0) slab.keep()
    else slab.reuse()
  }

  /** Moves the one timer forward when something became due earlier. A timer that fires too early is set again. */
  function schedule(): void {
    const deadlineMs = device.nextDeadline()
    if (deadlineMs === undefined || deadlineMs >= timerAtMs || !isOpen) return
    clearTimeout(timer)
    timerAtMs = deadlineMs
    const waitMs = Math.min(Math.max(Math.ceil(deadlineMs - clock().monotonicMs), 0), MAX_TIMEOUT_MS)
    timer = setTimeout(onTimer, waitMs)
    // The socket keeps the process alive; a timer alone should not.
    timer.unref()
  }

  function onTimer(): void {
    timerAtMs = Number.POSITIVE_INFINITY
    perform(device.tick(instant()))
  }

  /** Node delivers one datagram; those that wait after it are read together. */
  function onMessage(datagram: Uint8Array, sender: RemoteInfo): void {
    take(datagram, unmapped(sender))
    // A callback may have closed the interface, and the descriptor may be reused.
    if (!isOpen || receiveWaiting === undefined) return
    for (const { data, from } of receiveWaiting()) {
      // Mostly the same object again.
      if (from !== last.from) last = { from, endpoint: unmapped(from) }
      take(data, last.endpoint)
      if (!isOpen) return
    }
  }

  function take(datagram: Uint8Array, from: Endpoint): void {
    if (isHandshakeMessage(datagram)) handshakes.push(datagram, from)
    else receive(datagram, from)
  }

  function receive(datagram: Uint8Array, from: Endpoint): void {
    perform(device.receive(datagram, from, instant()))
  }

  function refuseHandshake(): void {
    refusedHandshakes++
    perform([{ type: 'drop', reason: 'handshake-backlog' }])
  }

  function changePeers(change: () => void): void {
    change()
    schedule()
  }

  async function close(): Promise<void> {
    if (!isOpen) return
    sendOutgoing()
    isOpen = false
    clearTimeout(timer)
    handshakes.clear()
    lastPeers = new Map(device.peers().map((peer) => [peer.publicKey, peer]))
    device.close()
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }

  try {
    // Listens before binding: with a look-up that answers at once, binding ends before bind() returns.
    const listening = once(socket, 'listening')
    socket.bind({ port: options.port ?? 0, address: options.host ?? '0.0.0.0' })
    await listening
  } catch (error) {
    device.close()
    socket.close()
    throw error
  }
  growReceiveBuffer(socket)
  const { port } = socket.address()
  const family = familyOf(options.host)
  const descriptor = options.offload === false || options.openSocket ? undefined : descriptorOf({ port, family })
  if (descriptor !== undefined) {
    offload = openSegmentationOffload({ descriptor, family })
    receiveWaiting = openReceiveWaiting(descriptor)
  }
  socket.on('message', onMessage)
  socket.on('error', ignoreSendError)

  return {
    publicKey: device.publicKey,
    port,
    send: (packet) => {
      if (!isOpen) return
      perform(device.send(packet, instant()))
    },
    addPeer: (config) => changePeers(() => device.addPeer(config)),
    updatePeer: (config) => changePeers(() => device.updatePeer(config)),
    removePeer: (publicKey) =>
      changePeers(() => {
        // Sends the peer's earlier output first.
        sendOutgoing()
        device.removePeer(publicKey)
      }),
    handshake: (publicKey) => changePeers(() => device.handshake(publicKey, instant())),
    peer: (publicKey) => (lastPeers ? lastPeers.get(publicKey) : device.peer(publicKey)),
    peers: () => (lastPeers ? [...lastPeers.values()] : device.peers()),
    traffic: () => lastPeers ?? device.traffic(),
    drops: () => ({ ...device.drops(), 'handshake-backlog': refusedHandshakes }),
    close,
  }
}

function systemClock(): Now {
  return { monotonicMs: performance.now(), unixMs: Date.now() }
}

/** Endpoints are addresses, so the look-up returns the given address at once. */
function openSocket(host: string | undefined): Socket {
  const family = familyOf(host)
  return createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    lookup: (address, _options, callback) => callback(null, address, isIP(address) || family),
  })
}

function familyOf(host: string | undefined): 4 | 6 {
  return host?.includes(':') === true ? 6 : 4
}

function isDualStack(host: string | undefined): boolean {
  return host === '::'
}

function mapV4(address: string): string {
  return address.includes(':') ? address : MAPPED_V4 + address
}

function unmapped({ address, port }: Endpoint): Endpoint {
  return { address: address.startsWith(MAPPED_V4) ? address.slice(MAPPED_V4.length) : address, port }
}

/** Bursts outlast a turn of the event loop. The system may limit or refuse it; the tunnel works anyway. */
function growReceiveBuffer(socket: DatagramSocket): void {
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES)
  } catch {
    // The smaller default works too.
  }
}

/** UDP may lose a datagram anywhere. */
function ignoreSendError(): void {}
