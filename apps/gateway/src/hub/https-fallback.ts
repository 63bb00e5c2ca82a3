import { performance } from 'node:perf_hooks'
import type { BodyOf, Call, ResponseOf } from '@hedgerow/contract'
import type { z } from 'zod'
import type { DeviceKeys } from '../identity.ts'
import { postSigned, type CallContext, type SigningSession } from './signed-call.ts'
import type { Tunnel } from './tunnel.ts'

/** How long the tunnel may be without a handshake before the hub is told around it. */
const HTTPS_FALLBACK_AFTER_MS = 60_000

/**
 * The way around a tunnel that does not come up, where UDP is blocked: signed requests to the hub's public API.
 * Heartbeats take it over http too; detections, which hold pictures, over https alone.
 */
export type HttpsFallback = {
  /** Whether to take it now. Asked in turn with every heartbeat: it notices from when on the tunnel is down. */
  isOpen(tunnel: Tunnel | undefined, isUnanswered: boolean): boolean
  isTaken(): boolean
  /** Whether it is taken, and keeps to itself what goes through it. */
  isPrivate(): boolean
  /** The tunnel carried a heartbeat. */
  tunnelAnswers(): void
  post<C extends Call & { response: z.ZodType }>(call: C, body: BodyOf<C>, timeoutMs: number): Promise<ResponseOf<C>>
}

export function createHttpsFallback(options: {
  /** With the hub that approved this device: nobody else is heard there. */
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
