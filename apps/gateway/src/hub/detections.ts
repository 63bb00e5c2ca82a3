import { setTimeout } from 'node:timers/promises'
import { reportDetections, type BodyOf, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { createBackoff, createPause } from './backoff.ts'
import type { HubFeatures } from './features.ts'
import type { HttpsFallback } from './https-fallback.ts'
import type { DetectionQueue } from './detection-queue.ts'
import { inWords } from './failure.ts'
import { HubRefusal } from './http-call.ts'
import { postThroughTunnel } from './tunnel-call.ts'
import type { Tunnel } from './tunnel.ts'

const SEND_TIMEOUT_MS = 30_000
/** How often to check for a connection to the hub while there is none. */
const IDLE_CHECK_MS = 10_000
/** The hub may be ready sooner than its Retry-After said. */
const RETRY_AFTER_MAX_MS = 600_000

type Post = (body: BodyOf<typeof reportDetections>) => Promise<unknown>

export type DetectionSender = {
  /** Something was queued, or the tunnel came up. */
  wake(): void
  /** Settles after `signal` is aborted. */
  done: Promise<void>
}

export function keepSendingDetections(options: {
  queue: DetectionQueue
  tunnel: () => Tunnel | undefined
  httpsFallback: Pick<HttpsFallback, 'isPrivate' | 'post'>
  features: HubFeatures
  log: Logger
  signal: AbortSignal
}): DetectionSender {
  const { queue, log, signal, httpsFallback, features } = options
  const rest = createPause(signal)
  const backoff = createBackoff({ firstMs: 1_000, maxMs: 30_000 })

  /** Returns false when the queue is empty. */
  async function sendOldest(post: Post): Promise<boolean> {
    const batch = await queue.oldest()
    if (!batch) return false
    if (batch.detections.length > 0) await deliver(post, batch.detections)
    await queue.remove(batch)
    return true
  }

  /**
   * Rejects when the batch has to be sent again. What the hub will never take is left out, and the rest is sent;
   * details that it refuses are left out first, since an older hub may have taken the place of the one that named them.
   */
  async function deliver(post: Post, batch: Detection[], mayDetail = true): Promise<void> {
    const withDetails = mayDetail && features.has('detection-details')
    const detections = withDetails ? batch : features.withoutDetails(batch)
    try {
      await post({ detections })
    } catch (error) {
      if (withDetails && error instanceof HubRefusal && error.code === 'invalid_request')
        return deliver(post, batch, false)
      const kept = error instanceof HubRefusal ? withoutRefused(detections, error) : undefined
      if (!(error instanceof HubRefusal) || !kept) throw error
      const lost = detections.length - kept.flat().length
      if (lost > 0) {
        queue.countRefused(lost)
        log.error({ lost, reason: error.message }, 'the hub refuses these detections; dropped them')
      }
      for (const part of kept) await deliver(post, part, mayDetail)
    }
  }

  /** Undefined while there is no way to the hub, or no heartbeat of this session told what it takes. */
  function wayToHub(): Post | undefined {
    if (!features.isKnown()) return undefined
    if (httpsFallback.isPrivate()) return (body) => httpsFallback.post(reportDetections, body, SEND_TIMEOUT_MS)
    const tunnel = options.tunnel()
    return tunnel?.isUp()
      ? (body) => postThroughTunnel(tunnel, reportDetections, body, signal, SEND_TIMEOUT_MS)
      : undefined
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const post = wayToHub()
        if (post) {
          while (!signal.aborted && (await sendOldest(post))) backoff.reset()
        }
        await rest.pause(IDLE_CHECK_MS)
      } catch (error) {
        if (signal.aborted) return
        const retryAfterMs = error instanceof HubRefusal ? error.retryAfterMs : undefined
        log.warn({ waiting: queue.waiting(), retryAfterMs, reason: inWords(error) }, 'detections wait for the hub')
        await (retryAfterMs === undefined
          ? rest.pause(backoff.next())
          : setTimeout(Math.min(retryAfterMs, RETRY_AFTER_MAX_MS), undefined, { signal }).catch(() => {}))
      }
    }
  }

  return {
    wake: rest.wake,
    done: run(),
  }
}

/**
 * The parts to send of a batch that the hub refused, without the faulty detections: the same batch again would block
 * the queue for ever. Undefined when the refusal is temporary.
 */
function withoutRefused(detections: Detection[], { code, fieldErrors }: HubRefusal): Detection[][] | undefined {
  if (code === 'payload_too_large' || code === 'json_too_complex') {
    const half = Math.ceil(detections.length / 2)
    return detections.length > 1 ? [detections.slice(0, half), detections.slice(half)] : []
  }
  if (code !== 'invalid_request') return undefined
  const refused = new Set(Object.keys(fieldErrors).map((path) => /^detections\.(\d+)/.exec(path)?.[1]))
  const kept = detections.filter((_, index) => !refused.has(String(index)))
  return kept.length > 0 && kept.length < detections.length ? [kept] : []
}
