/**
 * A network between two cores for tests: a clock of its own, seeded loss, duplication, delay and reordering, an MTU.
 * The same seed gives the same run. Only tests use it.
 */
import { Stack, type Output } from './stack.ts'

export interface Path {
  delayMs?: number
  /** Added at random, which reorders. */
  jitterMs?: number
  /** The share that overtakes: it is not delayed. */
  reordering?: number
  loss?: number
  duplication?: number
  /** Longer packets vanish. */
  mtu?: number
  /** Serialises packets: a bottleneck with a queue of 256 packets. */
  bytesPerMs?: number
}

export type Events = Exclude<Output, { type: 'packet' } | { type: 'drop' }>

const QUEUE_PACKETS = 256

/** Uniform in [0, 1) from a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  // Signed: V8 keeps such a number without an allocation.
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A core with a fixed address and a simple hash, which is good enough for tests. */
export function createCore(
  address: number,
  options: { mtu?: number; seed?: number; congestionControl?: 'cubic' | 'new-reno' } = {},
): Stack {
  const keyedHash = (bytes: Uint8Array): number =>
    bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619) >>> 0, options.seed ?? 2_166_136_261)
  return new Stack({
    address,
    mtu: options.mtu ?? 1420,
    keyedHash,
    congestionControl: options.congestionControl ?? 'cubic',
  })
}

export class Simulator {
  now = 1_000
  readonly a: Stack
  readonly b: Stack
  readonly drops: Record<string, number> = {}
  sent = 0
  /** Sees every packet before the path does; false loses it. */
  filter: (packet: Uint8Array, fromA: boolean) => boolean = () => true
  readonly #path: Path
  readonly #random: () => number
  readonly #onEvent: (side: 'a' | 'b', event: Events) => void
  #flights: { at: number; order: number; to: Stack; packet: Uint8Array }[] = []
  #order = 0
  #lineFreeAt = [0, 0]

  constructor(options: {
    a: Stack
    b: Stack
    path?: Path
    seed?: number
    onEvent(side: 'a' | 'b', event: Events): void
  }) {
    this.a = options.a
    this.b = options.b
    this.#path = options.path ?? {}
    this.#random = createRandom(options.seed ?? 1)
    this.#onEvent = options.onEvent
  }

  /** Sends packets on their way and hands events over. */
  take(from: Stack, outputs: Output[]): void {
    for (const output of outputs) {
      if (output.type === 'packet') this.#send(from, output.packet)
      else if (output.type === 'drop') this.drops[output.reason] = (this.drops[output.reason] ?? 0) + 1
      else this.#onEvent(from === this.a ? 'a' : 'b', output)
    }
  }

  /** Runs until `done`, until no event is left, or for `limitMs` of simulated time. */
  run(done: () => boolean, limitMs = 600_000): void {
    const end = this.now + limitMs
    for (;;) {
      this.#settle()
      if (done() || this.now >= end) return
      const next = Math.min(this.#nextArrival(), this.a.nextDeadline() ?? Infinity, this.b.nextDeadline() ?? Infinity)
      if (next === Infinity) return
      this.now = Math.max(this.now, Math.min(next, end))
      const due = this.#flights
        .filter((flight) => flight.at <= this.now)
        .toSorted((x, y) => x.at - y.at || x.order - y.order)
      this.#flights = this.#flights.filter((flight) => flight.at > this.now)
      for (const flight of due) this.take(flight.to, flight.to.receive(flight.packet, this.now))
      this.take(this.a, this.a.tick(this.now))
      this.take(this.b, this.b.tick(this.now))
    }
  }

  /** Lets simulated time pass. */
  pass(ms: number): void {
    const end = this.now + ms
    this.run(() => this.now >= end, ms)
    this.now = end
    this.take(this.a, this.a.tick(end))
    this.take(this.b, this.b.tick(end))
  }

  /** Work that is due at once does not cost time. */
  #settle(): void {
    for (const side of [this.a, this.b]) while (side.nextDeadline() === -Infinity) this.take(side, side.tick(this.now))
  }

  #nextArrival(): number {
    return this.#flights.reduce((least, flight) => Math.min(least, flight.at), Infinity)
  }

  #send(from: Stack, packet: Uint8Array): void {
    const {
      delayMs = 1,
      jitterMs = 0,
      reordering = 0,
      loss = 0,
      duplication = 0,
      mtu = 65_535,
      bytesPerMs,
    } = this.#path
    const line = from === this.a ? 0 : 1
    this.sent++
    if (packet.length > mtu || !this.filter(packet, line === 0) || this.#random() < loss) return
    let leavesAt = this.now
    if (bytesPerMs !== undefined) {
      const waitingMs = this.#lineFreeAt[line]! - this.now
      if (waitingMs > (QUEUE_PACKETS * 1420) / bytesPerMs) return
      leavesAt = Math.max(this.now, this.#lineFreeAt[line]!) + packet.length / bytesPerMs
      this.#lineFreeAt[line] = leavesAt
    }
    const to = from === this.a ? this.b : this.a
    const copies = this.#random() < duplication ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      this.#flights.push({
        at: leavesAt + (reordering > 0 && this.#random() < reordering ? 0.1 : delayMs + this.#random() * jitterMs),
        order: this.#order++,
        to,
        packet: packet.slice(),
      })
    }
  }
}
