/**
 * The sliding window that accepts every counter once (§5.4.6), as a ring of 32-bit words in the manner of RFC 6479:
 * moving forward clears whole words, so the usable window is one word short of the ring.
 */

const RING_WORDS = 256
const WORD_BITS = 32
/** A session begins with these, enough for 512 messages, on the heap: most sessions end with fewer. */
const FIRST_WORDS = 16

/** A counter this far behind the greatest one is refused. */
export const REPLAY_WINDOW = (RING_WORDS - 1) * WORD_BITS

export type ReplayWindow = {
  /** Greatest accepted counter plus one. */
  next: number
  /** The ring, or only its beginning while no counter was past that. */
  words: Uint32Array
}

export function createReplayWindow(): ReplayWindow {
  return { next: 0, words: new Uint32Array(FIRST_WORDS) }
}

/** Whether `counter` is new. Ask before decryption to spare it, and mark with `acceptCounter` only after. */
export function isFresh(window: ReplayWindow, counter: number): boolean {
  if (counter >= window.next) return true
  if (window.next - 1 - counter >= REPLAY_WINDOW) return false
  return ((window.words[ringIndex(counter)] ?? 0) & bitOf(counter)) === 0
}

/** Marks a counter for which `isFresh` was just true. Only authenticated counters may come here. */
export function acceptCounter(window: ReplayWindow, counter: number): void {
  if (counter >= window.words.length * WORD_BITS && window.words.length < RING_WORDS) {
    const ring = new Uint32Array(RING_WORDS)
    ring.set(window.words)
    window.words = ring
  }
  if (counter >= window.next) {
    const newest = Math.floor((window.next - 1) / WORD_BITS)
    const steps = Math.min(Math.floor(counter / WORD_BITS) - newest, RING_WORDS)
    for (let i = 0; i < steps; i++) window.words[ringIndex(counter - i * WORD_BITS)] = 0
    window.next = counter + 1
  }
  const index = ringIndex(counter)
  window.words[index] = (window.words[index] ?? 0) | bitOf(counter)
}

/** The shift keeps the low 32 bits of a counter, which is enough: the ring divides 2^32. */
function ringIndex(counter: number): number {
  return (counter >>> 5) & (RING_WORDS - 1)
}

function bitOf(counter: number): number {
  return 1 << (counter & (WORD_BITS - 1))
}
