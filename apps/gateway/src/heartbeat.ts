import { HEARTBEAT_INTERVAL_MS, sendHeartbeat, type Heartbeat } from '@hedgerow/contract'
import { createPause } from './backoff.ts'
import { inWords } from './failure.ts'
import type { Ladder } from './ladder.ts'
import { postThroughTunnel } from './tunnel-call.ts'
import type { Tunnel } from './tunnel.ts'

/** After this many in a row without an answer, shaking hands again may help. */
const RETRY_TUNNEL_AFTER = 2
/** After this many, the hub may have decided something: its status call tells. */
const RECHECK_AFTER = 3
/** A failed heartbeat is sent again sooner than the next one is due, then ever later. */
const FAILED_RETRY_MS = 5_000
const INTERVAL_LIMITS_MS = { min: 5_000, max: 300_000 }

export type HeartbeatOptions = {
  tunnel: () => Tunnel | undefined
  compose(): Promise<Heartbeat>
  ladder: Ladder
  signal: AbortSignal
  /** Several in a row went unanswered. */
  onUnanswered(): void
}

export type Heartbeats = {
  /** Sends one now: the tunnel came up, or something changed that the hub should know. */
  beat(): void
  /** Settles after `signal` is aborted. */
  done: Promise<void>
}

/** Sends a heartbeat through the tunnel every 30 s, or as often as the hub asks. */
export function keepBeating(options: HeartbeatOptions): Heartbeats {
  const { ladder, signal } = options
  const rest = createPause(signal)
  let intervalMs = HEARTBEAT_INTERVAL_MS
  let failures = 0

  async function send(tunnel: Tunnel): Promise<void> {
    try {
      const { settings } = await postThroughTunnel(tunnel, sendHeartbeat, await options.compose(), signal)
      const askedMs = settings.heartbeatIntervalSeconds * 1_000
      intervalMs = Math.min(INTERVAL_LIMITS_MS.max, Math.max(INTERVAL_LIMITS_MS.min, askedMs))
      failures = 0
      ladder.done('heartbeat', `by the hub, every ${Math.round(intervalMs / 1_000)} s`)
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      ladder.failed('heartbeat', `The hub did not acknowledge it: ${inWords(error)}`)
      if (failures >= RETRY_TUNNEL_AFTER) tunnel.retry()
      if (failures >= RECHECK_AFTER) options.onUnanswered()
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const tunnel = options.tunnel()
      if (tunnel?.isUp()) await send(tunnel)
      await rest.pause(failures > 0 ? Math.min(intervalMs, FAILED_RETRY_MS * failures) : intervalMs)
    }
  }

  return { beat: rest.wake, done: run() }
}
