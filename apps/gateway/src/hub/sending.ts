import { setTimeout } from 'node:timers/promises'
import type { BodyOf, Call, ResponseOf } from '@hedgerow/contract'
import type { z } from 'zod'
import { createBackoff, createPause } from '../kernel/backoff.ts'
import type { HubFeatures } from './features.ts'
import { HubRefusal } from '../kernel/http-call.ts'
import type { HttpsFallback } from './https-fallback.ts'
import { postThroughTunnel } from '../tunnel/tunnel-call.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

const SEND_TIMEOUT_MS = 30_000
/** How often to check for a connection to the hub while there is none. */
const IDLE_CHECK_MS = 10_000
/** The hub may be ready sooner than its Retry-After said. */
const RETRY_AFTER_MAX_MS = 600_000

/** Makes a call of the contract over the current way to the hub. */
export type Post = <C extends Call & { response: z.ZodType }>(
  call: C,
  body: BodyOf<C>,
  timeoutMs?: number,
) => Promise<ResponseOf<C>>

/**
 * The way to the hub for private data: the tunnel, or https beside it. Undefined while there is none, and until a
 * heartbeat of this session has shown the hub's features.
 */
export function createWayToHub(options: {
  tunnel: () => Tunnel | undefined
  httpsFallback: Pick<HttpsFallback, 'isPrivate' | 'post'>
  features: Pick<HubFeatures, 'isKnown'>
  signal: AbortSignal
}): () => Post | undefined {
  const { httpsFallback, features, signal } = options
  return () => {
    if (!features.isKnown()) return undefined
    if (httpsFallback.isPrivate())
      return (call, body, timeoutMs = SEND_TIMEOUT_MS) => httpsFallback.post(call, body, timeoutMs)
    const tunnel = options.tunnel()
    if (!tunnel?.isUp()) return undefined
    return (call, body, timeoutMs = SEND_TIMEOUT_MS) => postThroughTunnel(tunnel, call, body, { signal, timeoutMs })
  }
}

export type Sender = {
  /** There is something to send, or the tunnel came up. */
  wake(): void
  /** Settles after `signal` is aborted. */
  done: Promise<void>
}

/** Sends waiting items, one call after the other, while there is a way to the hub. */
export function keepSending(options: {
  wayToHub: () => Post | undefined
  /** Sends the oldest item. Returns false when none waits; rejects when the item has to be sent again. */
  sendNext(post: Post): Promise<boolean>
  onFailure(error: unknown, retryAfterMs: number | undefined): void
  signal: AbortSignal
}): Sender {
  const { signal } = options
  const rest = createPause(signal)
  const backoff = createBackoff({ firstMs: 1_000, maxMs: 30_000 })

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const post = options.wayToHub()
        if (post) {
          while (!signal.aborted && (await options.sendNext(post))) backoff.reset()
        }
        await rest.pause(IDLE_CHECK_MS)
      } catch (error) {
        if (signal.aborted) return
        const retryAfterMs = error instanceof HubRefusal ? error.retryAfterMs : undefined
        options.onFailure(error, retryAfterMs)
        await (retryAfterMs === undefined
          ? rest.pause(backoff.next())
          : setTimeout(Math.min(retryAfterMs, RETRY_AFTER_MAX_MS), undefined, { signal }).catch(() => {}))
      }
    }
  }

  return { wake: rest.wake, done: run() }
}
