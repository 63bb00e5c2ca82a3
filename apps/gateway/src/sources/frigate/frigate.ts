import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { createBackoff, createPause } from '../../kernel/backoff.ts'
import type { Source, SourceContext } from '../source.ts'
import { readMissed } from './backfill.ts'
import { createFrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { createHealth } from './health.ts'
import { createFrozenCameras } from './frozen-cameras.ts'
import { createItems, plainObject } from './items.ts'
import { config, envelope, isReplay, profile, readMessage, reviewMessage, stats, trackedMessage } from './messages.ts'
import { ownersOf } from './object-names.ts'
import { createPictures } from './pictures.ts'
import { openProgress, type Progress } from './progress.ts'
import { createReviews, type Reviews } from './reviews.ts'
import type { FrigateSettings } from './schema.ts'
import { createTrackedObjects, type SeenObject } from './tracked-objects.ts'
import { listenToWebSocket } from './web-socket.ts'

const RECONNECT = { firstMs: 1_000, maxMs: 60_000 }
/** After a connection that lasted this long, the next pause is short again. */
const GOOD_MS = 30_000
const STATS_EVERY_MS = 30_000
/** How often the pictures of its cameras are compared. */
const COMPARE_EVERY_MS = 30_000
const CONFIG_EVERY_MS = 600_000
/** Missed items are fetched this often even without an outage, because a message may have been lost. */
const CATCH_UP_EVERY_MS = 300_000
/** How often the agent checks whether missed items must be fetched, such as after a failure or a loss. */
const CATCH_UP_RETRY_MS = 5_000

/**
 * Frigate says again that an object that stands still is there after more than 60 s (its track/tracked_object.py:346).
 */
const PERSON_HOLDS_MS = 75_000

const VERSIONS = 'is its version between 0.16 and 0.18?'

/**
 * Starts a Frigate, on this device or in its network, as a source. Its messages, over its WebSocket or an MQTT broker,
 * report items that begin and end. Its HTTP API gives the pictures, and the items that were missed during an outage.
 */
export function startFrigate(settings: FrigateSettings, context: SourceContext, timeZone?: string): Source {
  const { log, clock } = context
  const stopping = new AbortController()
  const { signal } = stopping
  const client = createFrigateClient(settings, clock)
  const objects = createTrackedObjects(clock)
  let owners = ownersOf(undefined)
  const items = createItems({ settings, objects, owners: () => owners })
  const frozen = createFrozenCameras({ client, clock, log, signal })
  const health = createHealth(settings, { clock, frozen: frozen.of, timeZone })
  const catchingUp = createPause(signal)
  const polling = createPause(signal)
  const comparing = createPause(signal)
  let progress: Progress | undefined
  let reviews: Reviews | undefined
  /** Whether everything so far was reported: messages arrive, and missed items were fetched. */
  let isCaughtUp = false
  let isListening = false
  let losses = 0
  let configAt = -Infinity

  function onUp(): void {
    isListening = true
    isCaughtUp = false
    // It may have started again, with another configuration.
    configAt = -Infinity
    health.answers('messages')
    health.forgetStatuses()
    log.info("Frigate's messages arrive")
    catchingUp.wake()
    polling.wake()
  }

  function onText(text: Buffer): void {
    const read = readMessage(envelope, text)
    if (read.problem !== undefined) return health.report(`A message of Frigate ${read.problem}: ${VERSIONS}`)
    const { topic, payload } = read.value
    onMessage(topic, Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload ?? null)))
  }

  function onMessage(topic: string, payload: Buffer): void {
    if (topic === 'reviews') onReview(payload)
    else if (topic === 'events') onTracked(payload)
    else if (topic === 'stats') take(stats, 'stats', payload, health.takeStats)
    else if (topic === 'available') onAvailable(payload.toString('latin1', 0, 20))
    else {
      const camera = /^([^/]{1,100})\/status\/detect$/.exec(topic)?.[1]
      if (camera !== undefined) health.takeStatus(camera, payload.toString('latin1', 0, 20))
    }
  }

  /** Passes readable messages to `use`; reports the first unreadable one. */
  function take<S extends z.ZodType>(schema: S, what: string, bytes: Buffer, use: (value: z.output<S>) => void): void {
    const read = readMessage(schema, bytes)
    if (read.problem === undefined) use(read.value)
    else health.report(`Frigate's ${what} ${read.problem}: ${VERSIONS}`)
  }

  function onReview(payload: Buffer): void {
    take(reviewMessage, 'reviews', payload, ({ type, after }) => {
      // Descriptions by a language model come later with types of their own, and change nothing here.
      if (type !== 'new' && type !== 'update' && type !== 'end') return
      if (reviews?.take(after) === false) onLost()
    })
  }

  function onTracked(payload: Buffer): void {
    take(trackedMessage, 'events', payload, (message) => {
      const { id, camera, false_positive: isWrong } = message.after
      if (isWrong === true || isReplay(camera)) return
      const before = objects.get(id)
      const object = objects.take(message, health.frameOf(camera))
      // A person outside of the required zones keeps deterrents off too, but is in no review item.
      glimpse(object)
      reviews?.onObject(object, !before || !isDeepStrictEqual(plainObject(before), plainObject(object)))
    })
  }

  /** A person who left counts from then on as everybody does who was seen. */
  function glimpse({ camera, label, endedAt }: SeenObject): void {
    if (endedAt === undefined) context.glimpse(camera, label, PERSON_HOLDS_MS)
    else context.glimpse(camera, label)
  }

  /** Only the broker reports this: over the WebSocket, a Frigate that is not available is not connected. */
  function onAvailable(state: string): void {
    if (state === 'online') {
      health.answers('messages')
      isCaughtUp = false
      catchingUp.wake()
    } else health.answers('messages', new FrigateError(`Frigate says that it is ${state}.`))
  }

  function onLost(): void {
    isCaughtUp = false
    losses += 1
  }

  async function listen(): Promise<void> {
    const backoff = createBackoff(RECONNECT)
    const rest = createPause(signal)
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        if (settings.mqtt) {
          // Most devices have no broker, and need not load the library.
          const { listenToBroker } = await import('./mqtt.ts')
          await listenToBroker({ settings: settings.mqtt, signal, onOpen: onUp, onMessage })
        } else await listenToWebSocket({ client, settings, signal, onOpen: onUp, onMessage: onText })
      } catch (error) {
        if (!(error instanceof FrigateError)) throw error
        health.answers('messages', error)
        log.warn({ reason: error.message }, "Frigate's messages do not arrive")
      }
      isListening = false
      isCaughtUp = false
      if (performance.now() - startedAt > GOOD_MS) backoff.reset()
      await rest.pause(backoff.next())
    }
  }

  async function catchUp(read: Progress, into: Reviews): Promise<void> {
    let lastAt = -Infinity
    while (!signal.aborted) {
      const lossesBefore = losses
      const isDue = !isCaughtUp || performance.now() - lastAt > CATCH_UP_EVERY_MS
      try {
        if (isListening && isDue) {
          await fetchMissed(read, into)
          isCaughtUp = isListening && losses === lossesBefore
          if (isCaughtUp) read.caughtUp(client.now())
          lastAt = performance.now()
        }
      } catch (error) {
        if (!(error instanceof FrigateError)) throw error
        if (!signal.aborted) log.warn({ reason: error.message }, 'missed items could not be fetched')
      }
      await catchingUp.pause(CATCH_UP_RETRY_MS)
    }
  }

  async function fetchMissed(read: Progress, into: Reviews): Promise<void> {
    const { after, isGap } = read.since(client.now(), settings.backfillHours)
    const missed = await readMissed(client, after, signal)
    if (missed.problem !== undefined) health.report(`A review item of Frigate ${missed.problem}: ${VERSIONS}`)
    if (isGap || missed.isCut)
      health.report(
        'More happened at Frigate during the outage than the gateway fetches: the oldest items are missing.',
      )
    for (const item of missed.items) {
      // Nobody ever ended it, so Frigate lists it each time.
      const isOld = item.end_time === Infinity && item.start_time < after && read.get(item.id)?.isOver !== false
      if (!isOld && !into.take(item)) {
        await into.settled()
        into.take(item)
      }
    }
    await into.settled()
  }

  async function poll(): Promise<void> {
    while (!signal.aborted) {
      try {
        take(stats, 'stats', await client.read('/api/stats', { signal }), health.takeStats)
        if (performance.now() - configAt > CONFIG_EVERY_MS) {
          take(config, 'config', await client.read('/api/config', { signal }), (value) => {
            owners = ownersOf(value.model?.attributes_map ?? undefined)
            health.takeConfig(value)
          })
          await readProfile()
          configAt = performance.now()
        }
        health.answers('http')
      } catch (error) {
        if (!(error instanceof FrigateError)) throw error
        if (!signal.aborted) health.answers('http', error)
      }
      await polling.pause(STATS_EVERY_MS)
    }
  }

  async function compare(): Promise<void> {
    while (!signal.aborted) {
      await frozen.look(health.sending())
      await comparing.pause(COMPARE_EVERY_MS)
    }
  }

  /** Which cameras this user may see; another version may not say it. */
  async function readProfile(): Promise<void> {
    try {
      take(profile, 'profile', await client.read('/api/profile', { signal }), health.takeProfile)
    } catch (error) {
      if (!(error instanceof FrigateError) || error.status === undefined) throw error
    }
  }

  async function run(): Promise<void> {
    progress = await openProgress(context.dataDir, client.url.origin, {
      onError: (error) => log.error({ err: error }, "the progress of Frigate's items could not be stored"),
    })
    const opened = progress
    reviews = createReviews({
      settings,
      client,
      objects,
      items,
      progress,
      context,
      onPerson: glimpse,
      log,
      signal,
      onReported({ start_time: start, end_time: end }) {
        if (isCaughtUp) opened.caughtUp(Math.min(Math.max(start, end ?? start), client.now()))
      },
      onLost,
    })
    await Promise.all([listen(), catchUp(progress, reviews), poll(), compare()])
    await reviews.settled()
  }

  const done = run().catch((error: unknown) => {
    log.error({ err: error }, 'the source Frigate ended')
    health.report('The agent stopped listening to Frigate after an internal error; its log has the details.')
  })
  const pictures = createPictures({ client, dataDir: context.dataDir, clock, health, progress: () => progress })
  return {
    state: health.state,
    watch: health.watch,
    names: health.names,
    problemsOf: health.problemsOf,
    pictures,
    async stop() {
      stopping.abort()
      await done
      await progress?.stop()
      await pictures.stop()
    },
  }
}
