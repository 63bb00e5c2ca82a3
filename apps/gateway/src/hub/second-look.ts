import { askSecondLook, SECOND_LOOK_FEATURE } from '@hedgerow/contract'
import { unsure, type Look, type Question } from '@hedgerow/second-look'
import { codeOf, inWords } from '../kernel/failure.ts'
import type { HubFeatures } from './features.ts'
import { HubRefusal } from '../kernel/http-call.ts'
import type { Post } from './sending.ts'

/**
 * Never rejects: without an answer of the hub the verdict is unsure. `by` is the endpoint that answered; `fault` says
 * in a sentence that the hub or its endpoint did not look.
 */
export type AskHub = (
  question: Question,
  timeoutMs: number,
) => Promise<Look & { by: string; retryAfterMs?: number; fault?: string }>

/** A picture waits in the hub's queue for as long as the question takes. */
const WAITS = 2
const MARGIN_MS = 5_000
/** A hub that has used its pictures of the day names the next day; its operator may raise the limit sooner. */
const PAUSE_MAX_MS = 3_600_000
const UNREACHED_PAUSE_MS = 10_000

/** Asks the hub's vision endpoint, if this hub names the feature. */
export function askHubWith(poster: () => Post | undefined, features: Pick<HubFeatures, 'has'>): AskHub {
  return async ({ jpeg, label, camera, zone, at, normal }, timeoutMs) => {
    const post = poster()
    if (!post) return { by: 'hub', ...unsure('The hub cannot be reached now.'), retryAfterMs: UNREACHED_PAUSE_MS }
    if (!features.has(SECOND_LOOK_FEATURE)) {
      const fault = 'The hub offers no second look.'
      return { by: 'hub', ...unsure(fault), fault }
    }
    const picture = Buffer.from(jpeg).toString('base64')
    const body = { label, camera, at, picture, ...(zone !== undefined && { zone }), ...(normal && { normal }) }
    try {
      const { retryAfterSeconds, ...look } = await post(askSecondLook, body, timeoutMs * WAITS + MARGIN_MS)
      if (retryAfterSeconds === undefined) return look
      const retryAfterMs = Math.min(PAUSE_MAX_MS, retryAfterSeconds * 1_000)
      return { ...look, retryAfterMs, ...(look.reason !== undefined && { fault: look.reason }) }
    } catch (error) {
      const look = { by: 'hub', ...unsure(`The hub did not answer: ${inWords(error)}`.slice(0, 200)) }
      const retryAfterMs = pauseAfter(error)
      return { ...look, ...(retryAfterMs !== undefined && { retryAfterMs }) }
    }
  }
}

/** Undefined when the hub would answer the same again, or is too slow. */
function pauseAfter(error: unknown): number | undefined {
  if (error instanceof HubRefusal) return error.retryAfterMs
  return codeOf(error) === undefined ? undefined : UNREACHED_PAUSE_MS
}
