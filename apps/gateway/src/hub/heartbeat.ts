import type { Agent } from 'node:http'
import { HEARTBEAT_INTERVAL_MS, sendHeartbeat, type Heartbeat, type ResponseOf } from '@hedgerow/contract'
import { createPause } from '../kernel/backoff.ts'
import type { HubFeatures } from './features.ts'
import type { HttpsFallback } from './https-fallback.ts'
import { inWords } from '../kernel/failure.ts'
import { HubRefusal, NotAHubError } from '../kernel/http-call.ts'
import type { Conditions } from '../kernel/conditions.ts'
import { keepOneConnection, postThroughTunnel } from '../tunnel/tunnel-call.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

/**
 * After every this many failures in a row, the agent asks the hub whether it still approves this device, unless
 * something came through the tunnel meanwhile: the hub has no tunnel with a device that it does not approve.
 */
const RECHECK_AFTER = 3
/** The first pause after a tunnel comes up or fails; each later pause is twice as long. */
const CLOSE_WATCH_MS = 500
const TIMEOUT_MS = 10_000
/** After this much silence the first failure only starts a new handshake; later ones allow for a slow network. */
const SILENCE_MS = 2_000
/** Changes within this time share a heartbeat. */
const GATHER_MS = 250
const INTERVAL_LIMITS_MS = { min: 5_000, max: 300_000 }
/** The hub may have time sooner than its Retry-After said, and without heartbeats it shows the gateway as offline. */
const RETRY_AFTER_MAX_MS = 60_000

export type HeartbeatAnswer = ResponseOf<typeof sendHeartbeat>

export type HeartbeatOptions = {
  tunnel: () => Tunnel | undefined
  httpsFallback: HttpsFallback
  compose(): Promise<Heartbeat>
  features: HubFeatures
  conditions: Conditions
  signal: AbortSignal
  /** Called after every third heartbeat in a row that the hub refused, or during which it sent nothing. */
  onUnanswered(): void
  /** The hub's features are known from now on. */
  onFeatures(): void
  /** The hub answered through the tunnel. */
  onTunnelAnswer(answer: HeartbeatAnswer): void
  /** The hub answered, with the number of its newest review if it has reviews. */
  onReviews(newest: number | undefined): void
}

export type Heartbeats = {
  /** Sends a heartbeat now, because the hub should know of a change. */
  beat(): void
  /** Sends one heartbeat in a moment, for changes that come in quick succession. */
  beatSoon(): void
  /** Sends a heartbeat now, because the tunnel came up. */
  tunnelIsUp(): void
  /** Settles after `signal` is aborted. */
  done: Promise<void>
}

/**
 * Sends a heartbeat every 30 s, or as often as the hub asks: through the tunnel, or over HTTPS while the tunnel is
 * silent.
 */
export function keepBeating(options: HeartbeatOptions): Heartbeats {
  const { conditions, signal, httpsFallback, features } = options
  const rest = createPause(signal)
  let intervalMs = HEARTBEAT_INTERVAL_MS
  let watchMs = CLOSE_WATCH_MS
  let failures = 0
  /** The first of the last few failures was sent then. */
  let failingSinceMs = 0
  /** The hub said that it is busy, and for how long. */
  let retryAfterMs = 0
  /** The tunnel came up again in this session: perhaps the hub restarted, and its whole fleet returns at once. */
  let isReturning = false
  let current: { tunnel: Tunnel; agent: Agent } | undefined

  function learn(named: readonly string[] | undefined): void {
    const isNews = !features.isKnown()
    features.learn(named)
    if (isNews) options.onFeatures()
  }

  /**
   * When the hub refuses details that it named, an older hub has replaced it. A hub that answers no heartbeat may still
   * accept detections without details.
   */
  async function post(carry: (body: Heartbeat) => Promise<HeartbeatAnswer>): Promise<HeartbeatAnswer> {
    const heartbeat = await options.compose()
    try {
      const hadDetails = features.has('heartbeat-details')
      const answer = await carry(features.heartbeatFor(heartbeat)).catch((error: unknown) => {
        if (!hadDetails || !(error instanceof HubRefusal) || error.code !== 'invalid_request') throw error
        features.learn(undefined)
        return carry(features.heartbeatFor(heartbeat))
      })
      learn(answer.features)
      options.onReviews(answer.reviews)
      return answer
    } catch (error) {
      const isRefusal = error instanceof HubRefusal && !isBusy(error)
      const isLasting = isRefusal || error instanceof NotAHubError || failures + 1 >= RECHECK_AFTER
      if (isLasting && !signal.aborted && !features.isKnown()) learn(undefined)
      throw error
    }
  }

  async function send(tunnel: Tunnel): Promise<void> {
    const sentAtMs = performance.now()
    const silence = new AbortController()
    const untilSilence = setTimeout(() => {
      if (failures === 0 && !tunnel.hasHeardSince(sentAtMs)) silence.abort()
    }, SILENCE_MS)
    const ended = AbortSignal.any([signal, silence.signal])
    if (current?.tunnel !== tunnel) current = { tunnel, agent: keepOneConnection(tunnel) }
    const carried = { signal: ended, timeoutMs: TIMEOUT_MS, agent: current.agent }
    try {
      const answer = await post((body) => postThroughTunnel(tunnel, sendHeartbeat, body, carried))
      const requestedMs = answer.settings.heartbeatIntervalSeconds * 1_000
      intervalMs = Math.min(INTERVAL_LIMITS_MS.max, Math.max(INTERVAL_LIMITS_MS.min, requestedMs))
      failures = 0
      if (isReturning) watchMs = intervalMs * (0.5 + Math.random() / 2)
      isReturning = false
      httpsFallback.tunnelAnswers()
      options.onTunnelAnswer(answer)
      conditions.done('heartbeat', `by the hub, every ${Math.round(intervalMs / 1_000)} s`)
    } catch (error) {
      if (signal.aborted) return
      noteFailure(silence.signal.aborted ? new Error(`nothing came within ${SILENCE_MS / 1_000} s`) : error)
      if (isBusy(error)) {
        failures = 0
        httpsFallback.tunnelAnswers()
        return
      }
      failures += 1
      if (failures === 1) watchMs = CLOSE_WATCH_MS
      if (failures % RECHECK_AFTER === 1) failingSinceMs = sentAtMs
      const isRecheck = failures % RECHECK_AFTER === 0
      const isAnswer = cameThroughTunnel(error)
      // A hub that sends something has this session's keys and is slow: a new session would only give it more work.
      if (!isAnswer && (isRecheck || !tunnel.hasHeardSince(sentAtMs))) tunnel.retry()
      if (isRecheck && (isAnswer || !tunnel.hasHeardSince(failingSinceMs))) options.onUnanswered()
    } finally {
      clearTimeout(untilSilence)
    }
  }

  /** Sends a heartbeat outside the tunnel, with the reason why the tunnel is not in use. */
  async function sendAround(): Promise<void> {
    try {
      await post((body) => httpsFallback.post(sendHeartbeat, body, TIMEOUT_MS))
      conditions.done('heartbeat', 'by the hub, outside the tunnel, which does not answer')
    } catch (error) {
      if (!signal.aborted) noteFailure(error)
    }
  }

  function noteFailure(error: unknown): void {
    conditions.failed('heartbeat', `The hub did not acknowledge it: ${inWords(error)}`)
    if (isBusy(error)) retryAfterMs = Math.min(RETRY_AFTER_MAX_MS, error.retryAfterMs) * (1 + Math.random() / 2)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const tunnel = options.tunnel()
      if (tunnel?.isUp()) await send(tunnel)
      if (httpsFallback.isOpen(tunnel, failures >= RECHECK_AFTER)) await sendAround()
      await rest.pause(Math.max(retryAfterMs, Math.min(intervalMs, watchMs)))
      retryAfterMs = 0
      watchMs *= 2
    }
  }

  function beatNow(): void {
    watchMs = CLOSE_WATCH_MS
    rest.wake()
  }

  let soon: NodeJS.Timeout | undefined
  signal.addEventListener('abort', () => clearTimeout(soon))

  return {
    beatSoon() {
      soon ??= setTimeout(() => {
        soon = undefined
        rest.wake()
      }, GATHER_MS)
    },
    beat() {
      isReturning = false
      beatNow()
    },
    tunnelIsUp() {
      isReturning = features.isKnown()
      beatNow()
    },
    done: run(),
  }
}

/** The hub is there and asks for a pause: nothing is wrong with the tunnel or the approval. */
function isBusy(error: unknown): error is HubRefusal & { retryAfterMs: number } {
  return error instanceof HubRefusal && error.retryAfterMs !== undefined
}

/** A refusal by the hub, or its reset of a closed port, shows that the tunnel works; a new handshake would not help. */
function cameThroughTunnel(error: unknown): boolean {
  if (error instanceof HubRefusal || error instanceof NotAHubError) return true
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}
