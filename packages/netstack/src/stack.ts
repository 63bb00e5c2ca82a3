/**
 * One host with one IPv4 address: takes packets apart, finds the connection, keeps listeners, ports and the next
 * deadline. It refuses what is not addressed to it and never forwards. It does no I/O and reads no clock: time and
 * randomness are arguments, results are `Output` values. Called by the `node/` edge, or by a test with a clock of its
 * own.
 *
 * `receive` only reads; its results (acknowledgments, data) leave with the next `tick`, so a caller that receives a
 * batch of packets and then ticks sends one acknowledgment for all of them.
 */
import { receiveSegment } from './tcp-input.ts'
import { Connection, type ConnectionState } from './connection.ts'
import { DeadlineHeap } from './deadline-heap.ts'
import type { DropReason } from './drop.ts'
import { type FourTuple, type KeyedHash, initialSequence, portOffset, timestampOffset } from './four-tuple.ts'
import { Fragments } from './fragments.ts'
import type { Host, HostOutput } from './host.ts'
import { encodeEchoReply, encodeEchoRequest, encodeUnreachable, parseIcmp } from './icmp.ts'
import { type Ipv4Header, PROTOCOL_ICMP, PROTOCOL_TCP, isUnicast, parseIpv4 } from './ipv4.ts'
import { Listener } from './listener.ts'
import { PacketAllocator } from './packet-allocator.ts'
import { limitSegments } from './path-mtu.ts'
import { PeerTable } from './peer-table.ts'
import { RateLimits } from './rate-limit.ts'
import { refuse } from './reset.ts'
import { ACK, RST, SYN, type Segment, parseSegment } from './segment.ts'
import { advance, after, before } from './sequence.ts'
import { runTimeouts } from './timeouts.ts'
import { sendReset, transmit } from './tcp-output.ts'

/** RFC 6056 §3.2 suggests 1024 and up; the lower ports are left to listeners. */
const FIRST_EPHEMERAL_PORT = 32_768
const EPHEMERAL_PORTS = 65_536 - FIRST_EPHEMERAL_PORT
const SYN_RECEIVED_MS = 30_000
const MIN_MTU = 576
/** The limit for one peer. */
const UNREACHABLES_PER_SECOND = 50
/** For all connections together: arriving packets are processed before more leave. */
const PACKETS_PER_TICK = 64
const CODE_PROTOCOL_UNREACHABLE = 2
const CODE_PORT_UNREACHABLE = 3
const CODE_FRAGMENTATION_NEEDED = 4

/** Where the peer has our FIN, or never received a packet of ours, an abort needs no reset (RFC 9293 §3.10.5). */
const SILENT_ABORTS: ReadonlySet<ConnectionState> = new Set(['syn-sent', 'closing', 'last-ack', 'time-wait', 'closed'])

export interface StackOptions {
  /** Our address as a number, see `parseAddress`. */
  address: number
  /** The tunnel's MTU in bytes, headers included. */
  mtu: number
  keyedHash: KeyedHash
  /** 'cubic' (RFC 9438) when left out. */
  congestionControl?: 'cubic' | 'new-reno'
  /**
   * Data arrives authenticated, as behind WireGuard, so checksums of segments are redundant and not verified. Default:
   * false.
   */
  isAuthenticated?: boolean
  /** Memory for TCP packets, of any content: `encodeSegment` writes every byte. Zeroed memory when left out. */
  allocateSlab?: (length: number) => Uint8Array
}

export type Output = HostOutput<Connection>

export class Stack implements Host<Connection> {
  readonly address: number
  readonly mtu: number
  readonly congestionControl: 'cubic' | 'new-reno'
  now = 0
  readonly #isAuthenticated: boolean
  readonly allocate: (length: number) => Uint8Array
  /** Packets that were returned so far may be overwritten from now on: call it when they are sent or copied. */
  readonly reusePackets: () => void
  readonly #keyedHash: KeyedHash
  readonly #fragments = new Fragments()
  readonly #listeners = new Map<number, Listener<Connection>>()
  readonly #peers = new PeerTable()
  readonly #unreachables = new RateLimits(UNREACHABLES_PER_SECOND)
  #dirty = new Set<Connection>()
  #outputs: Output[] = []
  /** The connections with a deadline; none is earlier than its entry. */
  readonly #deadlines = new DeadlineHeap<Connection>()
  #portCounter = 0

  constructor(options: StackOptions) {
    this.address = options.address
    this.mtu = options.mtu
    this.congestionControl = options.congestionControl ?? 'cubic'
    this.#isAuthenticated = options.isAuthenticated ?? false
    this.#keyedHash = options.keyedHash
    const allocator = new PacketAllocator(options.allocateSlab)
    this.allocate = (length) => allocator.allocate(length)
    this.reusePackets = () => allocator.reuse()
  }

  /** Processes one IPv4 packet; the stack owns the buffer from then on. */
  receive(packet: Uint8Array, now: number): Output[] {
    this.now = now
    const reason = this.#receivePacket(packet, now)
    if (reason !== undefined) this.emit({ type: 'drop', reason })
    return this.#takeOutputs()
  }

  /** Does what is due: sends for connections that changed, and runs timeouts. */
  tick(now: number): Output[] {
    this.now = now
    this.#fragments.expire(now)
    for (let connection; (connection = this.#deadlines.takeDue(now)) !== undefined;) {
      const deadline = connection.deadlines.earliest
      if (now >= deadline) runTimeouts(connection, now)
      else this.#deadlines.bring(connection, deadline)
    }
    const dirty = this.#dirty
    this.#dirty = new Set()
    const unfinished: Connection[] = []
    for (const connection of dirty) {
      if (this.#outputs.length >= PACKETS_PER_TICK) break
      dirty.delete(connection)
      connection.settleReceived()
      if (transmit(connection, now)) unfinished.push(connection)
      this.#deadlines.bring(connection, connection.deadlines.earliest)
    }
    // First in the next tick: no connection waits for the bursts of others twice.
    for (const connection of this.#dirty) dirty.add(connection)
    for (const connection of unfinished) dirty.add(connection)
    this.#dirty = dirty
    return this.#takeOutputs()
  }

  /** When `tick` is needed next: -Infinity for at once, undefined when only another event can make it necessary. */
  nextDeadline(): number | undefined {
    if (this.#dirty.size > 0) return -Infinity
    const earliest = Math.min(this.#deadlines.earliest, this.#fragments.deadline)
    return earliest === Infinity ? undefined : earliest
  }

  /** Opens a connection; its SYN leaves with the next tick. Undefined when no local port is free towards that peer. */
  connect(remoteAddress: number, remotePort: number, now: number): Connection | undefined {
    const localPort = this.#chooseEphemeralPort(remoteAddress, remotePort)
    if (localPort === undefined) return undefined
    const connection = this.#open({ localPort, remoteAddress, remotePort, listener: undefined }, now)
    this.#dirty.add(connection)
    return connection
  }

  /** Undefined when the port is taken. Port 0 takes a free one. */
  listen(port: number, backlog?: number): Listener<Connection> | undefined {
    const chosen = port === 0 ? this.#freeListenPort() : port
    if (chosen === undefined || this.#listeners.has(chosen)) return undefined
    const listener = new Listener<Connection>(chosen, backlog)
    this.#listeners.set(chosen, listener)
    return listener
  }

  /** Its established connections stay open; half-open ones are reset. */
  unlisten(listener: Listener<Connection>): Output[] {
    if (this.#listeners.get(listener.port) !== listener) return []
    this.#listeners.delete(listener.port)
    for (const connection of this.#peers.all())
      if (connection.state === 'syn-received' && connection.localPort === listener.port) this.#abort(connection)
    return this.#takeOutputs()
  }

  /** Resets one connection (RFC 9293 §3.10.5). */
  abort(connection: Connection): Output[] {
    this.#abort(connection)
    return this.#takeOutputs()
  }

  /** Resets every connection and removes the listeners. */
  close(): Output[] {
    this.#listeners.clear()
    for (const connection of this.#peers.all()) this.#abort(connection)
    return this.#takeOutputs()
  }

  ping(host: number, identifier: number, sequence: number): Output[] {
    this.emit({ type: 'packet', packet: encodeEchoRequest(this.address, host, identifier, sequence) })
    return this.#takeOutputs()
  }

  emit(output: Output): void {
    this.#outputs.push(output)
  }

  markDirty(connection: Connection): void {
    this.#dirty.add(connection)
  }

  remove(connection: Connection): void {
    this.#peers.remove(connection)
    this.#dirty.delete(connection)
    this.#deadlines.remove(connection)
  }

  noteTimeWait(connection: Connection): void {
    this.#peers.addTimeWaiting(connection)?.finish(undefined)
  }

  noteKept(connection: Connection): void {
    this.#peers.noteKept(connection)
  }

  mayKeep(connection: Connection, isInOrder: boolean): boolean {
    return this.#peers.mayKeep(connection, isInOrder)
  }

  #takeOutputs(): Output[] {
    const outputs = this.#outputs
    if (outputs.length > 0) this.#outputs = []
    return outputs
  }

  #abort(connection: Connection): void {
    if (!SILENT_ABORTS.has(connection.state)) sendReset(connection)
    connection.finish('aborted')
  }

  #receivePacket(packet: Uint8Array, now: number): DropReason | undefined {
    const ip = parseIpv4(packet)
    if (typeof ip === 'string') return ip
    if (ip.destination !== this.address) return 'wrong-destination'
    if (!isUnicast(ip.source) || ip.source === this.address) return 'bad-source'
    if (ip.moreFragments || ip.fragmentOffset > 0) {
      const whole = this.#fragments.insert(packet, ip, now)
      return whole === undefined || typeof whole === 'string' ? whole : this.#receivePacket(whole, now)
    }
    if (ip.protocol === PROTOCOL_TCP) return this.#receiveTcp(packet, ip, now)
    if (ip.protocol === PROTOCOL_ICMP) return this.#receiveIcmp(packet, ip)
    const code = ip.protocol === 17 ? CODE_PORT_UNREACHABLE : CODE_PROTOCOL_UNREACHABLE
    if (this.#unreachables.take(ip.source, now))
      this.emit({ type: 'packet', packet: encodeUnreachable(this.address, ip.source, code, packet) })
    return 'unknown-protocol'
  }

  #receiveTcp(packet: Uint8Array, ip: Ipv4Header, now: number): DropReason | undefined {
    const segment = parseSegment(packet, ip, { isAuthenticated: this.#isAuthenticated })
    if (typeof segment === 'string') return segment
    const connection = this.#peers.find(ip.source, segment.destinationPort, segment.sourcePort)
    if (connection === undefined) return this.#receiveUnconnected(segment, ip.source, now)
    const isReopening =
      connection.state === 'time-wait' && (segment.flags & (SYN | ACK | RST)) === SYN && isNewer(connection, segment)
    if (isReopening && this.#listeners.has(segment.destinationPort)) {
      // The peer uses the four-tuple again (RFC 9293 §3.10.7.4, RFC 6191 §2).
      const above = advance(connection.sendNext, 0x20000)
      connection.finish(undefined)
      return this.#receiveUnconnected(segment, ip.source, now, above)
    }
    return receiveSegment(connection, segment, now)
  }

  /** RFC 9293 §3.10.7.1 (CLOSED) and §3.10.7.2 (LISTEN). */
  #receiveUnconnected(segment: Segment, source: number, now: number, initialSequence?: number): DropReason | undefined {
    if ((segment.flags & RST) !== 0) return 'no-connection'
    const listener = this.#listeners.get(segment.destinationPort)
    if (listener === undefined || (segment.flags & ACK) !== 0 || (segment.flags & SYN) === 0) {
      refuse(this, segment, source)
      return 'no-connection'
    }
    const mayOpen = this.#peers.mayOpen(source)
    const room = mayOpen ? listener.roomFor(source) : 'full'
    if (room === 'full') {
      // A reset, so that the peer's application learns of it at once.
      refuse(this, segment, source)
      return mayOpen ? 'backlog-full' : 'too-many-connections'
    }
    if (room !== 'free') this.#abort(room)
    const tuple = {
      localPort: segment.destinationPort,
      remoteAddress: source,
      remotePort: segment.sourcePort,
      listener,
    }
    const connection = this.#open(tuple, now, initialSequence)
    listener.add(connection)
    connection.negotiate(segment)
    connection.deadlines.expireAt = now + SYN_RECEIVED_MS
    this.#dirty.add(connection)
    return undefined
  }

  #receiveIcmp(packet: Uint8Array, ip: Ipv4Header): DropReason | undefined {
    const message = parseIcmp(packet, ip.payloadStart, ip.payloadEnd)
    if (message === undefined) return 'bad-icmp'
    if (message.type === 'echo-request') {
      this.emit({ type: 'packet', packet: encodeEchoReply(this.address, ip.source, message.data) })
      return undefined
    }
    if (message.type === 'echo-reply') {
      this.emit({ type: 'echo-reply', from: ip.source, identifier: message.identifier, sequence: message.sequence })
      return undefined
    }
    const connection = this.#peers.find(message.destination, message.sourcePort, message.destinationPort)
    // Only an error about something in flight is accepted (RFC 5927 §4.1).
    const isInFlight =
      connection !== undefined &&
      message.source === this.address &&
      !after(connection.unacknowledged, message.sequence) &&
      after(connection.sendNext, message.sequence)
    if (!isInFlight) return 'unmatched-icmp'
    if (message.code === CODE_FRAGMENTATION_NEEDED) {
      const mtu = Math.max(MIN_MTU, message.nextHopMtu === 0 ? MIN_MTU : message.nextHopMtu)
      limitSegments(connection, mtu)
      this.#dirty.add(connection)
      // Only a connection that was never open is ended by an error (RFC 5927 §5.2).
    } else if (connection.state === 'syn-sent')
      connection.finish(message.code === CODE_PORT_UNREACHABLE ? 'refused' : 'unreachable')
    return undefined
  }

  #open(
    tuple: FourTuple & { listener: Listener<Connection> | undefined },
    now: number,
    sequence = initialSequence(this.#keyedHash, this.address, tuple, now),
  ): Connection {
    this.now = now
    const connection = new Connection(this, {
      ...tuple,
      initialSequence: sequence,
      timestampOffset: timestampOffset(this.#keyedHash, this.address, tuple),
    })
    this.#peers.add(connection)
    return connection
  }

  /** RFC 6056 §3.3.3, algorithm 3: a counter from an offset that differs per destination. */
  #chooseEphemeralPort(remoteAddress: number, remotePort: number): number | undefined {
    const offset = portOffset(this.#keyedHash, this.address, remoteAddress, remotePort)
    for (let tries = 0; tries < EPHEMERAL_PORTS; tries++) {
      const port = FIRST_EPHEMERAL_PORT + ((offset + this.#portCounter++) % EPHEMERAL_PORTS)
      if (!this.#listeners.has(port) && !this.#peers.find(remoteAddress, port, remotePort)) return port
    }
    return undefined
  }

  #freeListenPort(): number | undefined {
    for (let port = FIRST_EPHEMERAL_PORT; port < 65_536; port++) {
      if (!this.#listeners.has(port)) return port
    }
    return undefined
  }
}

/**
 * Whether a SYN may take the place of a connection in TIME-WAIT: by its timestamp, or by its sequence number (RFC 6191
 * §2).
 */
function isNewer({ timestamps, receiveNext }: Connection, syn: Segment): boolean {
  if (timestamps !== undefined && syn.timestamp !== undefined && syn.timestamp !== timestamps.recent)
    return before(timestamps.recent, syn.timestamp)
  return after(syn.sequence, receiveNext)
}
