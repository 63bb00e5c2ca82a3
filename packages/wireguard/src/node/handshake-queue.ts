/**
 * A queue of handshake messages. One costs as much as a hundred packets, so a storm of them (a hub that starts for ten
 * thousand gateways) would leave the socket unread until the kernel's buffer is full, and packets of live tunnels would
 * be lost. Each turn of the event loop reads the socket, then handles messages here for a short time.
 */

import { MessageType, messageTypeOf } from '../messages.ts'
import type { Endpoint } from '../outputs.ts'

/**
 * An initiator repeats its request after 5 s and then needs no answer to the earlier one; the difference is for the
 * round trip.
 */
const MAX_WAIT_MS = 3_000
/** About what one core answers in that time. */
const MAX_WAITING = 8_192
/** Enough for one handshake, or for a few dozen refusals. */
const TURN_BUDGET_MS = 0.4
/**
 * The share of the time since the last turn that handshakes get: a hub with much other work has a dozen long turns a
 * second, in which one handshake each would not let a fleet return.
 */
const TURN_SHARE = 0.2
/** Packets of live tunnels wait for no longer than this. */
const TURN_BUDGET_MAX_MS = 20

type Waiting = { datagram: Uint8Array; from: Endpoint; sinceMs: number }

export type HandshakeQueue = {
  /** Keeps a copy of the datagram. */
  push(datagram: Uint8Array, from: Endpoint): void
  clear(): void
}

/**
 * `refuse` is called for each message that came when the queue was full, or that waited until its sender no longer
 * wants an answer.
 */
export function createHandshakeQueue(
  handle: (datagram: Uint8Array, from: Endpoint) => void,
  refuse: () => void,
): HandshakeQueue {
  /** A ring: `count` entries from `first` on. */
  const ring: (Waiting | undefined)[] = []
  let first = 0
  let count = 0
  let turn: NodeJS.Immediate | undefined
  let workedAtMs = performance.now()

  function push(datagram: Uint8Array, from: Endpoint): void {
    if (count === MAX_WAITING) {
      refuse()
      return
    }
    // A view would keep its neighbours in memory. Copied by constructor, because a Node Buffer's `slice` shares memory.
    ring[(first + count) % MAX_WAITING] = { datagram: new Uint8Array(datagram), from, sinceMs: performance.now() }
    count++
    turn ??= setImmediate(work)
  }

  function take(): Waiting | undefined {
    const taken = ring[first]
    if (count === 0) return undefined
    ring[first] = undefined
    first = (first + 1) % MAX_WAITING
    count--
    return taken
  }

  function work(): void {
    turn = undefined
    const startMs = performance.now()
    const budgetMs = Math.min(TURN_BUDGET_MAX_MS, Math.max(TURN_BUDGET_MS, TURN_SHARE * (startMs - workedAtMs)))
    let nowMs = startMs
    while (count > 0 && nowMs - startMs < budgetMs) {
      const waiting = take()!
      if (nowMs - waiting.sinceMs < MAX_WAIT_MS) handle(waiting.datagram, waiting.from)
      else refuse()
      nowMs = performance.now()
    }
    workedAtMs = nowMs
    if (count > 0) turn ??= setImmediate(work)
  }

  function clear(): void {
    clearImmediate(turn)
    turn = undefined
    ring.length = 0
    first = 0
    count = 0
  }

  return { push, clear }
}

/** Whether a datagram is worth a place in the queue: an initiation or a response by its header and length. */
export function isHandshakeMessage(datagram: Uint8Array): boolean {
  const type = messageTypeOf(datagram)
  return type === MessageType.initiation || type === MessageType.response
}
