/**
 * When to ask for cookies, and how often one address may then ask for a handshake (§5.3). Load is the rate of handshake
 * messages with a right mac1, the only ones that cost Diffie-Hellman.
 */

import { parseAddress } from './address.ts'

/** Leaves most of one core for all else. */
export const DEFAULT_HANDSHAKES_PER_SECOND = 500
const MEASURE_MS = 1_000
/** Cookies stay on for this long after the last rate that was too high, as the Linux implementation does. */
const LOAD_LINGERS_MS = 1_000

export const SOURCE_RATE_PER_SECOND = 20
export const SOURCE_BURST = 5
/** Sources remembered. Each has proved its address with a cookie; when the table is full a new one must wait. */
const MAX_SOURCES = 8_192

export type LoadGauge = {
  /** Counts one handshake message and tells whether the device is under load. */
  count(nowMs: number): boolean
  /** Whether a source that owns its address may have a handshake now. Asked only under load. */
  admits(address: string, nowMs: number): boolean
}

export function createLoadGauge(handshakesPerSecond: number): LoadGauge {
  let windowStartMs = Number.NEGATIVE_INFINITY
  let counted = 0
  let loadedUntilMs = Number.NEGATIVE_INFINITY
  let sweptAtMs = Number.NEGATIVE_INFINITY
  const sources = new Map<string, { tokens: number; atMs: number }>()

  function count(nowMs: number): boolean {
    if (nowMs - windowStartMs >= MEASURE_MS) {
      windowStartMs = nowMs
      counted = 0
    }
    counted++
    if (counted > handshakesPerSecond) loadedUntilMs = nowMs + LOAD_LINGERS_MS
    return nowMs < loadedUntilMs
  }

  function admits(address: string, nowMs: number): boolean {
    if (nowMs - sweptAtMs >= MEASURE_MS) {
      sweptAtMs = nowMs
      for (const [key, { atMs }] of sources) if (nowMs - atMs >= MEASURE_MS) sources.delete(key)
    }
    const key = sourceOf(address)
    const source = sources.get(key)
    if (source === undefined && sources.size >= MAX_SOURCES) return false
    const refilled =
      source === undefined ? SOURCE_BURST : source.tokens + ((nowMs - source.atMs) * SOURCE_RATE_PER_SECOND) / 1000
    const tokens = Math.min(SOURCE_BURST, refilled)
    sources.set(key, { tokens: tokens >= 1 ? tokens - 1 : tokens, atMs: nowMs })
    return tokens >= 1
  }

  return { count, admits }
}

/** One IPv4 address, or the /64 that one IPv6 host has to itself. */
function sourceOf(address: string): string {
  const bytes = parseAddress(address.split('%')[0] ?? address)
  return bytes?.length === 16 ? bytes.subarray(0, 8).join(':') : address
}
