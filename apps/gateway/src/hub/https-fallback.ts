import { performance } from 'node:perf_hooks'
import type { BodyOf, Call, ResponseOf } from '@hedgerow/contract'
import type { z } from 'zod'
import type { DeviceKeys } from './identity.ts'
import { postSigned, type CallContext, type SigningSession } from './signed-call.ts'
import type { Tunnel } from '../tunnel/tunnel.ts'

/** How long the tunnel may be without a handshake before heartbeats use HTTPS. */
const HTTPS_FALLBACK_AFTER_MS = 60_000

/**
 * The fallback when UDP is blocked and the tunnel does not come up: signed requests to the hub's public API. Heartbeats
 * also use it over plain http; detections hold pictures and use it only over https.
 */
export type HttpsFallback = {
  /** Whether to use it now. Call it with every heartbeat: it measures how long the tunnel has been down. */
  isOpen(tunnel: Tunnel | undefined, isUnanswered: boolean): boolean
  isTaken(): boolean
  /** Whether it is in use and encrypted. */
  isPrivate(): boolean
  /** Call it when the tunnel carried a heartbeat. */
  tunnelAnswers(): void
  post<C extends Call & { response: z.ZodType }>(call: C, body: BodyOf<C>, timeoutMs: number): Promise<ResponseOf<C>>
}

export function createHttpsFallback(options: {
  /** The session with the hub that approved this device. */
  session: () => SigningSession | undefined
  keys: DeviceKeys
  context: CallContext
  afterMs?: number | undefined
}): HttpsFallback {
  const { keys, context, afterMs = HTTPS_FALLBACK_AFTER_MS } = options
  let downSinceMs: number | undefined
  let isTaken = false

  return {
    isOpen(tunnel, isUnanswered) {
      if (tunnel?.isUp() && !isUnanswered) downSinceMs = undefined
      else downSinceMs ??= performance.now()
      const isLong = downSinceMs !== undefined && (isUnanswered || performance.now() - downSinceMs >= afterMs)
      isTaken = isLong && options.session() !== undefined
      return isTaken
    },
    isTaken: () => isTaken,
    isPrivate: () => isTaken && options.session()?.url.protocol === 'https:',
    tunnelAnswers() {
      downSinceMs = undefined
      isTaken = false
    },
    post(call, body, timeoutMs) {
      const session = options.session()
      if (!session) return Promise.reject(new Error('no hub has been found'))
      return postSigned(session, call, body, { keys, context, timeoutMs })
    },
  }
}
