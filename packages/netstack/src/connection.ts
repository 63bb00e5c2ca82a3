/**
 * One TCP connection (RFC 9293 §3.3): its state, and the application's interface to it. It owns the send buffer, the
 * reassembly queue and the deadlines. Segments enter through `tcp-input.ts`, leave through `tcp-output.ts`, and
 * `timeouts.ts` does what is due. It refuses more than its buffers hold: `send` takes what fits, the receive window
 * never promises more than is free. Called by `stack.ts`; the application's half by the `node/` edge.
 */
import type { CongestionControl } from './congestion-control.ts'
import { createCongestionControl } from './congestion.ts'
import { Deadlines } from './deadlines.ts'
import type { ConnectionError, Host } from './host.ts'
import type { Listener } from './listener.ts'
import { Pacer } from './pacer.ts'
import { Rack } from './rack.ts'
import { RateLimit } from './rate-limit.ts'
import { Reassembly } from './reassembly.ts'
import { ReceiveWindow, WINDOW_SCALE } from './receive-window.ts'
import { RetransmissionQueue, RoundTrip } from './retransmission.ts'
import { ReceivedBlocks } from './sack.ts'
import { SendBuffer } from './send-buffer.ts'
import { advance } from './sequence.ts'
import { TIMESTAMP_BYTES, Timestamps } from './timestamps.ts'

/** RFC 9293 §3.3.2; LISTEN is a `Listener` here. */
export type ConnectionState =
  | 'syn-sent'
  | 'syn-received'
  | 'established'
  | 'fin-wait-1'
  | 'fin-wait-2'
  | 'close-wait'
  | 'closing'
  | 'last-ack'
  | 'time-wait'
  | 'closed'

export interface ConnectionOptions {
  localPort: number
  remoteAddress: number
  remotePort: number
  /** ISS (RFC 6528). */
  initialSequence: number
  /** The offset of our timestamp clock. */
  timestampOffset: number
  /** For a passive open; called once when the handshake succeeds or fails. */
  listener: Listener<Connection> | undefined
}

const SEND_BUFFER_MIN_BYTES = 128 << 10
const SEND_BUFFER_MAX_BYTES = 4 << 20
/** RFC 5961 §7, per connection so that one cannot learn of another's. */
const CHALLENGES_PER_SECOND = 10
/** RFC 9293 §3.7.1: the MSS of a peer that names none. */
const DEFAULT_MSS = 536
/** A peer that asks for less would make us send headers only. */
const MIN_MSS = 64
const TCP_IP_HEADER_BYTES = 40

export class Connection {
  readonly host: Host<Connection>
  readonly localPort: number
  readonly remoteAddress: number
  readonly remotePort: number
  readonly isPassive: boolean
  state: ConnectionState

  // Send sequence space (RFC 9293 §3.3.1), window already scaled.
  readonly initialSendSequence: number
  unacknowledged: number
  sendNext: number
  sendWindow = 0
  maxSendWindow = 0
  windowUpdateSequence = 0
  windowUpdateAcknowledgment = 0
  sendScale = 0
  /** Payload bytes of a segment: the MSS less the options that each one carries (RFC 6691 §2). */
  segmentBytes: number
  /** Their length before long segments vanished; 0 when no longer one should be tried (`path-mtu.ts`). */
  longerSegmentBytes = 0
  lengthProbeAt: number | undefined
  lengthProbes = 0

  // Receive sequence space.
  initialReceiveSequence = 0
  /** RCV.NXT: the next sequence number expected, the peer's FIN counted. */
  receiveNext = 0
  readonly receiveWindow: ReceiveWindow
  /** Last.ACK.sent (RFC 7323 §4.3). */
  lastAcknowledgment = 0
  /** The sequence number of the peer's FIN, once it was seen. */
  finSequence: number | undefined

  sackPermitted = false
  /** Undefined unless both SYNs carried the option (RFC 7323 §3.2). */
  timestamps: Timestamps | undefined
  readonly timestampOffset: number
  sendBuffer: SendBuffer
  reassembly = new Reassembly(0)
  /** For the stack: the time of its entry in the heap of deadlines. */
  waitsUntil = Infinity
  heapIndex = 0
  /** For the stack: the bytes of `reassembly` that it has counted. */
  countedBytes = 0
  receivedBlocks = new ReceivedBlocks()
  queue = new RetransmissionQueue()
  roundTrip = new RoundTrip()
  rack = new Rack()
  congestion: CongestionControl
  readonly pacer = new Pacer()

  // Recovery (RFC 6582, RFC 6675): until `recoveryPoint` is acknowledged.
  recovery: 'none' | 'fast' | 'timeout' = 'none'
  recoveryPoint = 0
  /** The start of the last recovery, and how many of its retransmissions were not yet reported as duplicates. */
  undoFrom: number | undefined
  /** Our clock at its first retransmission (RFC 3522 §3.2). */
  undoTimestamp: number | undefined
  undoCount = 0
  /** When the retransmission timer last expired. */
  timedOutAt = -Infinity
  duplicateAcks = 0
  isWindowLimited = false
  /** Where the data in flight ended when a tail-loss probe left. */
  probeEnd: number | undefined
  isProbeRetransmission = false
  /** A recovery began: its first segment is sent regardless of the window. */
  isRetransmissionDue = false

  readonly deadlines = new Deadlines()
  persistBackoff = 0
  synTransmissions = 0
  keepaliveProbes = 0
  keepaliveMs: number | undefined
  /** Since when the peer has been silent while something is unacknowledged. */
  silentSince = 0
  lastSentAt = 0
  lastHeardAt = 0

  // Work for the next tick.
  synDue = false
  ackDue = false
  probeDue = false
  unackedBytes = 0
  largestReceived = DEFAULT_MSS
  quickAcks = 16
  readonly challenges = new RateLimit(CHALLENGES_PER_SECOND)

  // The application's side.
  isFinQueued = false
  /** Small segments wait while anything is unacknowledged (Nagle, RFC 9293 §3.7.4). */
  holdsSmall = false
  /** The application closed both directions: arriving data is discarded. */
  isOrphan = false
  #listener: Listener<Connection> | undefined
  #wantsWritable = false
  #readableSaid = false
  /** For the edge: its object for this connection. */
  owner: unknown = undefined

  constructor(host: Host<Connection>, options: ConnectionOptions) {
    this.host = host
    this.localPort = options.localPort
    this.remoteAddress = options.remoteAddress
    this.remotePort = options.remotePort
    this.isPassive = options.listener !== undefined
    this.#listener = options.listener
    this.state = this.isPassive ? 'syn-received' : 'syn-sent'
    this.initialSendSequence = options.initialSequence
    this.unacknowledged = options.initialSequence
    this.sendNext = options.initialSequence
    this.sendBuffer = new SendBuffer(advance(options.initialSequence, 1))
    this.timestampOffset = options.timestampOffset
    this.receiveWindow = new ReceiveWindow(this.advertisedMss)
    this.segmentBytes = Math.min(DEFAULT_MSS, this.advertisedMss)
    this.congestion = createCongestionControl(host.congestionControl, this.segmentBytes)
    this.synDue = true
  }

  /** RFC 6691: from the MTU, without regard to options. */
  get advertisedMss(): number {
    return this.host.mtu - TCP_IP_HEADER_BYTES
  }

  /** Options of a segment that carries data. */
  get optionBytes(): number {
    return this.timestamps === undefined ? 0 : TIMESTAMP_BYTES
  }

  /** Some data was never sent, or is to be sent again. */
  get hasToSend(): boolean {
    return this.queue.lostBytes > 0 || this.sendNext !== advance(this.sendBuffer.end, this.isFinQueued ? 1 : 0)
  }

  /** Our FIN left at least once. */
  get isFinSent(): boolean {
    return this.isFinQueued && this.sendNext === advance(this.sendBuffer.end, 1)
  }

  /** Applies the options of the peer's SYN. */
  negotiate(syn: {
    sequence: number
    mss: number | undefined
    windowScale: number | undefined
    sackPermitted: boolean
    timestamp: number | undefined
  }): void {
    this.initialReceiveSequence = syn.sequence
    this.receiveNext = advance(syn.sequence, 1)
    this.reassembly.next = this.receiveNext
    this.lastAcknowledgment = this.receiveNext
    this.receiveWindow.edge = advance(this.receiveNext, 0xffff)
    // Scaling is on only if both SYNs carry it (RFC 7323 §2.2).
    if (syn.windowScale !== undefined) {
      this.sendScale = syn.windowScale
      this.receiveWindow.scale = WINDOW_SCALE
    }
    this.sackPermitted = syn.sackPermitted
    if (syn.timestamp !== undefined)
      this.timestamps = new Timestamps(this.timestampOffset, syn.timestamp, this.host.now)
    const mss = Math.max(MIN_MSS, Math.min(syn.mss ?? DEFAULT_MSS, this.advertisedMss))
    this.segmentBytes = mss - this.optionBytes
    this.congestion = createCongestionControl(this.host.congestionControl, this.segmentBytes)
  }

  /**
   * Room in the send buffer; it follows the congestion window, so that an idle or slow peer cannot hold much memory.
   */
  get sendSpace(): number {
    const limit = Math.min(SEND_BUFFER_MAX_BYTES, Math.max(SEND_BUFFER_MIN_BYTES, 2 * this.congestion.window))
    return Math.max(0, limit - this.sendBuffer.length)
  }

  /** Queues a copy of as much as fits and returns how much that was; after less than all, a 'writable' follows. */
  send(bytes: Uint8Array): number {
    if (this.isFinQueued || this.state === 'closed') return 0
    const count = Math.min(this.sendSpace, bytes.length)
    if (count < bytes.length) this.#wantsWritable = true
    if (count > 0) {
      this.sendBuffer.append(count === bytes.length ? bytes : bytes.subarray(0, count))
      this.host.markDirty(this)
    }
    return count
  }

  /**
   * Chunks in order. They may be views into received packets, whose memory is freed with the last view: copy what you
   * keep. Reading opens the window, and widens it while reading keeps up.
   */
  read(maxBytes: number): Uint8Array[] {
    this.#readableSaid = false
    const waiting = this.reassembly.readyBytes
    const chunks = this.reassembly.take(maxBytes)
    if (chunks.length === 0) return chunks
    this.host.noteKept(this)
    this.receiveWindow.noteRead(waiting - this.reassembly.readyBytes, this.host.now, this.roundTrip.smoothedMs)
    if (this.isWindowUpdateDue()) {
      this.ackDue = true
      this.host.markDirty(this)
    }
    return chunks
  }

  /** The peer sent FIN and everything before it was read. */
  get isEnded(): boolean {
    return (
      this.finSequence !== undefined &&
      this.reassembly.readyBytes === 0 &&
      this.receiveNext === advance(this.finSequence, 1)
    )
  }

  /** `idleMs` of silence before the first probe; undefined switches keepalive off (RFC 9293 §3.8.4). */
  setKeepalive(idleMs: number | undefined, now: number): void {
    this.keepaliveMs = idleMs
    const isOpen =
      this.state !== 'syn-sent' &&
      this.state !== 'syn-received' &&
      this.state !== 'time-wait' &&
      this.state !== 'closed'
    this.deadlines.keepaliveAt = idleMs === undefined || !isOpen ? Infinity : now + idleMs
    if (isOpen) this.host.markDirty(this)
  }

  /** Switches on, or off as it is at first, that small segments wait for each other. */
  setNagle(isOn: boolean): void {
    this.holdsSmall = isOn
    if (!isOn) this.host.markDirty(this)
  }

  /** Sends FIN after what is queued; reading continues (half-close, RFC 9293 §3.6). */
  shutdown(): void {
    this.isFinQueued = true
    this.host.markDirty(this)
  }

  /**
   * The application closes both directions. Queued data and the FIN are still delivered; arriving data is discarded,
   * and once our FIN is acknowledged it is answered with a reset (RFC 9293 §3.6.1).
   */
  close(now: number): void {
    if (this.state === 'closed') return
    if (this.state === 'syn-sent') return this.finish('aborted')
    this.isOrphan = true
    this.#discardReceived()
    if (this.state !== 'time-wait') this.deadlines.expireAt = now + ORPHAN_MS
    this.shutdown()
  }

  /** Emits the events that the application waits for. */
  announceReadable(): void {
    if (this.isOrphan) this.#discardReceived()
    else if (!this.#readableSaid) {
      this.#readableSaid = true
      this.host.emit({ type: 'readable', connection: this })
    }
  }

  announceWritable(): void {
    if (!this.#wantsWritable || this.sendSpace === 0) return
    this.#wantsWritable = false
    this.host.emit({ type: 'writable', connection: this })
  }

  /** The application had its chance to read: unread data is copied, so that it holds no packets' memory. */
  settleReceived(): void {
    this.reassembly.settle()
    this.host.noteKept(this)
  }

  #discardReceived(): void {
    this.reassembly.discard()
    this.host.noteKept(this)
  }

  /** The handshake is over, so the listener has room for another. */
  settle(): void {
    this.#listener?.settle(this)
    this.#listener = undefined
  }

  /** Ends the connection now, without a packet to the peer. */
  finish(error: ConnectionError | undefined): void {
    if (this.state === 'closed') return
    this.state = 'closed'
    this.settle()
    this.sendBuffer.clear()
    this.queue.clear()
    this.deadlines.clear()
    this.host.remove(this)
    this.host.emit({ type: 'closed', connection: this, error })
  }

  isWindowUpdateDue(): boolean {
    if (this.state === 'time-wait' || this.state === 'closed' || this.finSequence !== undefined) return false
    return this.receiveWindow.isUpdateDue(this.receiveNext, this.reassembly.readyBytes)
  }
}

/** How long a connection closed by the application may go without progress, FIN-WAIT-2 included. */
export const ORPHAN_MS = 60_000
