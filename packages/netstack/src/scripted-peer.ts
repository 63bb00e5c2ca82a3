/** A peer that sends exactly what a test says, for exchanges that read like a trace. Only tests use it. */
import type { Connection } from './connection.ts'
import { parseIpv4 } from './ipv4.ts'
import { ACK, FIN, PSH, RST, SYN, URG, type Range, encodeSegment, parseSegment } from './segment.ts'
import { advance, distance } from './sequence.ts'
import { Stack, type Output } from './stack.ts'

export const OUR_ADDRESS = 0x0a640001
export const PEER_ADDRESS = 0x0a640002
const PEER_PORT = 4000
/** Near the wrap on both sides, so that every trace crosses it. */
const OUR_ISS = 0xfffffff0
const PEER_ISS = 0xfffffffa

export interface Saying {
  /** Relative to the peer's initial sequence number: its SYN is 0. */
  seq: number
  /** Relative to ours: our SYN is 0. */
  ack?: number
  data?: string | Uint8Array
  window?: number
  mss?: number
  scale?: number
  sackPermitted?: boolean
  /** In our sequence space, relative to ours. */
  sack?: [number, number][]
  /** TSval; TSecr is `echo`, or our newest value. */
  ts?: number
  echo?: number
  /** From another port than usual. */
  port?: number
}

const LETTERS: [number, string][] = [
  [SYN, 'SYN'],
  [FIN, 'FIN'],
  [RST, 'RST'],
  [ACK, 'ACK'],
  [URG, 'URG'],
]

export class ScriptedPeer {
  now = 10_000
  readonly stack: Stack
  connection: Connection | undefined
  readonly events: string[] = []
  readonly drops: string[] = []
  /** Everything our side sent, whole. */
  readonly packets: Uint8Array[] = []
  #sent: string[] = []
  #ourPort = 80
  #ourTimestamp = 0

  constructor() {
    // The hash cancels the clock's part, so that the initial sequence number is known.
    this.stack = new Stack({ address: OUR_ADDRESS, mtu: 1420, keyedHash: () => (OUR_ISS - this.now * 250) >>> 0 })
  }

  listen(backlog?: number): this {
    this.stack.listen(80, backlog)
    return this
  }

  connect(): this {
    this.connection = this.stack.connect(PEER_ADDRESS, PEER_PORT, this.now)
    this.#ourPort = this.connection!.localPort
    return this
  }

  /** The peer sends a segment; flags as in 'SYN,ACK'. Returns what we answer at once. */
  says(flags: string, saying: Saying): string[] {
    this.hears(flags, saying)
    return this.sends()
  }

  /** A segment of the peer arrives, and others may before we answer. */
  hears(flags: string, saying: Saying): void {
    const bits = flags
      .split(',')
      .reduce((all, name) => all | (LETTERS.find(([, letter]) => letter === name)?.[0] ?? 0), 0)
    const packet = encodeSegment(
      {
        source: PEER_ADDRESS,
        destination: OUR_ADDRESS,
        sourcePort: saying.port ?? PEER_PORT,
        destinationPort: this.#ourPort,
        sequence: advance(PEER_ISS, saying.seq),
        acknowledgment: (bits & ACK) === 0 ? 0 : advance(OUR_ISS, saying.ack ?? 0),
        flags: bits,
        window: saying.window ?? 65_535,
        mss: saying.mss,
        windowScale: saying.scale,
        sackPermitted: saying.sackPermitted ?? false,
        sack: saying.sack?.map(([start, end]): Range => ({
          start: advance(OUR_ISS, start),
          end: advance(OUR_ISS, end),
        })),
        timestamp: saying.ts,
        timestampEcho: saying.echo ?? this.#ourTimestamp,
        payload: typeof saying.data === 'string' ? new TextEncoder().encode(saying.data) : saying.data,
      },
      (length) => new Uint8Array(length),
    )
    this.take(this.stack.receive(packet, this.now))
  }

  /** Everything we sent since the last call, after doing what is due. */
  sends(): string[] {
    while (this.stack.nextDeadline() === -Infinity) this.take(this.stack.tick(this.now))
    const sent = this.#sent
    this.#sent = []
    return sent
  }

  /** Time passes, deadline by deadline. */
  after(ms: number): string[] {
    const end = this.now + ms
    const sent = this.sends()
    for (let at = this.stack.nextDeadline(); at !== undefined && at <= end; at = this.stack.nextDeadline()) {
      this.now = Math.max(this.now, at)
      this.take(this.stack.tick(this.now))
      sent.push(...this.sends())
    }
    this.now = end
    return sent
  }

  take(outputs: Output[]): void {
    for (const output of outputs) {
      if (output.type === 'packet') {
        this.packets.push(output.packet)
        this.#sent.push(this.#describe(output.packet))
      } else if (output.type === 'drop') this.drops.push(output.reason)
      else if (output.type === 'closed') this.events.push(`closed ${output.error ?? 'cleanly'}`)
      else {
        if ('connection' in output) this.connection = output.connection
        this.events.push(output.type)
      }
    }
  }

  /** Our newest timestamp, for an echo of it later. */
  echoes(): number {
    return this.#ourTimestamp
  }

  /** Everything readable now, as text. */
  reads(): string {
    return (this.connection?.read(1 << 20) ?? []).map((chunk) => new TextDecoder().decode(chunk)).join('')
  }

  writes(data: string | Uint8Array): string[] {
    this.connection?.send(typeof data === 'string' ? new TextEncoder().encode(data) : data)
    return this.sends()
  }

  /** An open connection, ours passive: the peer's next is 1, ours is 1. */
  static established(options: Partial<Saying> = {}): ScriptedPeer {
    const peer = new ScriptedPeer().listen()
    peer.says('SYN', { seq: 0, mss: 1380, scale: 0, sackPermitted: true, ...options })
    peer.after(10)
    const { window, ts } = options
    peer.says('ACK', {
      seq: 1,
      ack: 1,
      ...(window === undefined ? {} : { window }),
      ...(ts === undefined ? {} : { ts }),
    })
    peer.packets.length = 0
    return peer
  }

  /**
   * 'ACK 1:5 ack 1 ts 10 sack 11-21': sequence numbers relative, `ts` the peer's clock as echoed, without the option
   * none.
   */
  #describe(packet: Uint8Array): string {
    const ip = parseIpv4(packet)
    const segment = typeof ip === 'string' ? ip : parseSegment(packet, ip)
    if (typeof segment === 'string') return `broken: ${segment}`
    this.#ourTimestamp = segment.timestamp ?? 0
    const flags = LETTERS.filter(([bit]) => (segment.flags & bit) !== 0).map(([, name]) => name)
    const start = distance(segment.sequence, OUR_ISS)
    const sack = segment.sack.map((range) => `${distance(range.start, PEER_ISS)}-${distance(range.end, PEER_ISS)}`)
    const hasEcho = segment.timestamp !== undefined && (segment.flags & ACK) !== 0
    return [
      flags.join(',') || (segment.flags & PSH ? 'PSH' : 'none'),
      `${start}:${start + segment.payload.length}`,
      ...((segment.flags & ACK) === 0 ? [] : [`ack ${distance(segment.acknowledgment, PEER_ISS)}`]),
      ...(hasEcho ? [`ts ${segment.timestampEcho}`] : []),
      ...(sack.length === 0 ? [] : [`sack ${sack.join(' ')}`]),
    ].join(' ')
  }
}
