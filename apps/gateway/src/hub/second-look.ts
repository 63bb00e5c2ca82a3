import { askSecondLook, SECOND_LOOK_FEATURE } from '@hedgerow/contract'
import { unsure, type Look, type Question } from '@hedgerow/second-look'
import { inWords } from './failure.ts'
import type { HubFeatures } from './features.ts'
import type { Post } from './sending.ts'

/** Never rejects: without an answer of the hub the verdict is unsure. `by` is the endpoint that answered. */
export type AskHub = (question: Question, timeoutMs: number) => Promise<Look & { by: string; retryAfterMs?: number }>

/** A picture waits in the hub's queue for as long as the question takes. */
const WAITS = 2
const MARGIN_MS = 5_000

/** Asks the hub's vision endpoint, if this hub names the feature. */
export function askHubWith(way: () => Post | undefined, features: Pick<HubFeatures, 'has'>): AskHub {
  return async ({ jpeg, label, camera, zone, at, normal }, timeoutMs) => {
    const post = way()
    if (!post) return { by: 'hub', ...unsure('The hub cannot be reached now.') }
    if (!features.has(SECOND_LOOK_FEATURE)) return { by: 'hub', ...unsure('The hub offers no second look.') }
    const picture = Buffer.from(jpeg).toString('base64')
    const body = { label, camera, at, picture, ...(zone !== undefined && { zone }), ...(normal && { normal }) }
    try {
      const { retryAfterSeconds, ...look } = await post(askSecondLook, body, timeoutMs * WAITS + MARGIN_MS)
      return { ...look, ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1_000 }) }
    } catch (error) {
      return { by: 'hub', ...unsure(`The hub did not answer: ${inWords(error)}`.slice(0, 200)) }
    }
  }
}
