import { reportDetections, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import type { HubFeatures } from './features.ts'
import type { DetectionQueue } from './detection-queue.ts'
import { inWords } from '../kernel/failure.ts'
import { HubRefusal } from '../kernel/http-call.ts'
import { sendPastRefusals } from './past-refusals.ts'
import { keepSending, type Post, type Sender } from './sending.ts'

export function keepSendingDetections(options: {
  queue: DetectionQueue
  wayToHub: () => Post | undefined
  features: HubFeatures
  log: Logger
  signal: AbortSignal
}): Sender {
  const { queue, wayToHub, features, log, signal } = options

  /**
   * Rejects when the batch has to be sent again. Details that the hub refuses are left out first, because an older hub
   * may have replaced the one that named them; then detections that the hub never accepts. False when the hub gets
   * none.
   */
  async function deliver(post: Post, batch: Detection[], mayDetail = true): Promise<boolean> {
    const withDetails = mayDetail && (features.has('detection-details') || features.has('learning'))
    const detections = withDetails ? features.detectionsFor(batch) : features.withoutDetails(batch)
    if (detections.length === 0) return false
    try {
      const { withoutPicture } = await post(reportDetections, { detections })
      if (withoutPicture)
        log.warn({ detections: withoutPicture }, 'the hub did not accept the pictures of these detections')
      return true
    } catch (error) {
      if (withDetails && error instanceof HubRefusal && error.code === 'invalid_request')
        return deliver(post, batch, false)
      const accepted = error instanceof HubRefusal ? withoutRefused(detections, error) : undefined
      if (!(error instanceof HubRefusal) || !accepted) throw error
      drop(detections.length - accepted.flat().length, error.message)
      let isAnySent = false
      for (const part of accepted) isAnySent = (await deliver(post, part, mayDetail)) || isAnySent
      return isAnySent
    }
  }

  function drop(lost: number, reason: string): void {
    if (lost === 0) return
    queue.countRefused(lost)
    log.error({ lost, reason }, 'the hub refuses these detections; dropped them')
  }

  return keepSending({
    wayToHub,
    async sendNext(post) {
      const batch = await queue.oldest()
      if (!batch) return false
      const refused = await sendPastRefusals(batch.detections, {
        send: (part) => deliver(post, part),
        following: async () => (await queue.oldest(batch))?.detections ?? [],
      })
      drop(refused.length, 'the hub accepts others')
      await queue.remove(batch)
      return true
    },
    onFailure: (error, retryAfterMs) =>
      log.warn({ waiting: queue.waiting(), retryAfterMs, reason: inWords(error) }, 'detections wait for the hub'),
    signal,
  })
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
  const accepted = detections.filter((_, index) => !refused.has(String(index)))
  return accepted.length > 0 && accepted.length < detections.length ? [accepted] : []
}
