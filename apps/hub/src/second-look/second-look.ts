/**
 * The second look for the fleet: one vision endpoint serves gateways that have no machine for it. Pictures wait in a
 * bounded queue that is fair among gateways, and each gateway and the fleet have a limit of pictures a day.
 */
import { SECOND_LOOK_PICTURE_MAX_BYTES, type askSecondLook, type BodyOf, type ResponseOf } from '@hedgerow/contract'
import { queryEndpoint, unsure, type EndpointAnswer } from '@hedgerow/second-look'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { SecondLookConfig } from '../config.ts'
import type { Tables } from '../database/tables.ts'
import { FairQueue } from '../kernel/fair-queue.ts'
import { createSpending } from './spending.ts'

type Answer = ResponseOf<typeof askSecondLook>

export type SecondLook = {
  /** Rejects with the database's error only. */
  look(gatewayId: string, body: BodyOf<typeof askSecondLook>): Promise<Answer>
  /** How many pictures wait. */
  waiting(): number
  stop(): Promise<void>
}

type Waiting = { begin(): Promise<void>; giveUp(answer: Answer): void }

const QUEUE = { perKey: 4, total: 64 }
const SECOND_MS = 1_000

const inSeconds = (ms: number) => Math.max(1, Math.ceil(ms / SECOND_MS))

export function createSecondLook(
  config: SecondLookConfig,
  parts: {
    db: Kysely<Tables>
    clock: () => number
    /** Undefined for bytes that are not a picture. */
    cleanJpeg(gatewayId: string, bytes: Buffer, maxBytes: number): Promise<Buffer | undefined>
    metrics: { countSecondLook(outcome: 'confirmed' | 'rejected' | 'unsure' | 'refused'): void }
    log: Logger
  },
): SecondLook {
  const { timeoutMs, atOnce, model } = config
  const { metrics, log, cleanJpeg } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const queue = new FairQueue<Waiting>(QUEUE)
  const spending = createSpending(parts.db, config, parts.clock)
  const running = new Set<Promise<void>>()
  /** The endpoint asked for a pause until then, by a clock that never goes back. */
  let pausedUntil = 0

  const refused = (reason: string, retryAfterMs: number): Answer => {
    metrics.countSecondLook('refused')
    return { by: 'hub', ...unsure(reason), retryAfterSeconds: inSeconds(retryAfterMs) }
  }

  function startNext(): void {
    while (running.size < atOnce && !signal.aborted) {
      const next = queue.take()
      if (!next) return
      const run = next.begin().finally(() => {
        running.delete(run)
        startNext()
      })
      running.add(run)
    }
  }

  function toAnswer(answer: EndpointAnswer): Answer {
    const { ms: _, isFault, retryAfterMs, ...look } = answer
    if (isFault) log.warn({ reason: look.reason }, 'the vision endpoint does not look')
    if (retryAfterMs !== undefined) pausedUntil = performance.now() + retryAfterMs
    metrics.countSecondLook(look.outcome)
    return { by: model, ...look, ...(retryAfterMs !== undefined && { retryAfterSeconds: inSeconds(retryAfterMs) }) }
  }

  async function lookNow(gatewayId: string, { picture, ...facts }: BodyOf<typeof askSecondLook>): Promise<Answer> {
    const pauseMs = pausedUntil - performance.now()
    if (pauseMs > 0) return refused('The vision endpoint of the hub pauses.', pauseMs)
    const jpeg = await cleanJpeg(gatewayId, Buffer.from(picture, 'base64'), SECOND_LOOK_PICTURE_MAX_BYTES)
    if (!jpeg) return { by: 'hub', ...unsure('The picture is no whole JPEG, or too large.') }
    if (!(await spending.take(gatewayId)))
      return refused('The pictures of this day are spent.', spending.untilNextDayMs())
    return toAnswer(await queryEndpoint(config, { ...facts, jpeg }, { timeoutMs, signal }))
  }

  return {
    look(gatewayId, body) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const waiting: Waiting = {
        begin: () => {
          clearTimeout(late)
          return lookNow(gatewayId, body).then(resolve, reject)
        },
        giveUp: resolve,
      }
      const late = setTimeout(() => {
        queue.remove(gatewayId, waiting)
        resolve(refused('The second look of the hub has too much to do.', timeoutMs))
      }, timeoutMs)
      late.unref()
      if (!queue.put(gatewayId, waiting)) {
        clearTimeout(late)
        return Promise.resolve(refused('Too many pictures wait for the second look of the hub.', timeoutMs))
      }
      startNext()
      return promise
    },
    waiting: () => queue.size,
    async stop() {
      stopping.abort()
      for (let next = queue.take(); next; next = queue.take())
        next.giveUp({ by: 'hub', ...unsure('The hub is stopping.') })
      await Promise.all(running)
    },
  }
}
