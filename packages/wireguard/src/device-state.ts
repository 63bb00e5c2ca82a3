/**
 * State shared by the device's parts. `device.ts` makes one; `receive.ts`, `transmit.ts`, `initiate.ts` and `timers.ts`
 * work on it.
 */

import type { AllowedIps } from './allowed-ips.ts'
import type { CookieMaker } from './cookie.ts'
import type { Crypto, KeyPair } from './crypto.ts'
import type { Deadlines } from './deadlines.ts'
import type { PublicKey } from './keys.ts'
import type { LoadGauge } from './load.ts'
import type { DropCounts, DropReason } from './drops.ts'
import type { Output } from './outputs.ts'
import type { Indices, Peer } from './peer.ts'
import type { Slab } from './slab.ts'

export type DeviceState = {
  crypto: Crypto
  local: KeyPair
  mac1Key: Uint8Array
  mtu: number
  peers: Map<PublicKey, Peer>
  indices: Indices
  allowedIps: AllowedIps<Peer>
  deadlines: Deadlines<Peer>
  cookies: CookieMaker
  load: LoadGauge
  /** For transport messages. */
  slab: Slab
  /** The next TAI64N, always later than the one before. */
  nextTimestamp(unixMs: number): Uint8Array
}

/** One call's time, its outputs, and its drop counts. */
export type Turn = { nowMs: number; unixMs: number; outputs: Output[]; drops: DropCounts }

export function drop(turn: Turn, reason: DropReason): void {
  turn.drops[reason]++
  turn.outputs.push({ type: 'drop', reason })
}

/** A random index that names nothing yet (§5.4.2). */
export function freshIndex({ crypto, indices }: DeviceState): number {
  for (;;) {
    const bytes = crypto.random(4)
    const index = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
    if (!indices.has(index)) return index
  }
}
