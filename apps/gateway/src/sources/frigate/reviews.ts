import type { Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import type { FrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { readMessage, trackedObject, type ReviewItem } from './messages.ts'
import type { Progress } from './progress.ts'
import type { FrigateSettings } from './schema.ts'
import { readThumbnail } from './thumbnail.ts'
import { severityOf, toDetection } from './to-detection.ts'
import type { TrackedObjects } from './tracked-objects.ts'

/**
 * Review items become detections: at once when an item begins or changes, then again with a picture. Items are handled
 * concurrently, the changes of one item in order; of its waiting changes, only the newest is reported.
 */
export type Reviews = {
  /** False when too many wait: the item has to be fetched later. */
  take(item: ReviewItem): boolean
  /** Resolves when nothing waits. */
  settled(): Promise<void>
}

export type ReviewsOptions = {
  settings: FrigateSettings
  client: FrigateClient
  objects: TrackedObjects
  progress: Progress
  report(detections: readonly Detection[]): Promise<void>
  log: Logger
  signal: AbortSignal
  onReported(item: ReviewItem): void
  /** An item could not be reported: it has to be fetched again. */
  onLost(): void
}

const AT_ONCE = 4
const WAITING_MAX = 1_000
/** How many unknown objects of one item are requested. */
const OBJECTS_ASKED = 5
/** How long a first report waits to learn the score. */
const OBJECT_TIMEOUT_MS = 2_000

export function createReviews(options: ReviewsOptions): Reviews {
  const { settings, client, objects, progress, log, signal } = options
  const waiting = new Map<string, ReviewItem>()
  const inWork = new Set<string>()
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  function isWanted({ camera, severity }: ReviewItem): boolean {
    if (settings.cameras && !settings.cameras.includes(camera)) return false
    return settings.severity === 'detection' || severity === 'alert'
  }

  function work(): void {
    for (const [id, item] of waiting) {
      if (inWork.size >= AT_ONCE || signal.aborted) break
      if (inWork.has(id)) continue
      waiting.delete(id)
      inWork.add(id)
      void handle(item)
        .then(() => options.onReported(item))
        .catch((error: unknown) => {
          if (signal.aborted) return
          log.warn({ err: error, review: id }, 'a review item could not be reported')
          options.onLost()
        })
        .finally(() => {
          inWork.delete(id)
          work()
        })
    }
    if ((waiting.size === 0 || signal.aborted) && inWork.size === 0) idle.resolve()
  }

  async function handle(item: ReviewItem): Promise<void> {
    const before = progress.get(item.id)
    const isOver = item.end_time !== null
    // This message is late: an item that is over does not begin again.
    if (before?.isOver && !isOver) return
    const severity = before?.severity === 'alert' ? 'alert' : severityOf(item)
    if (!severity) return
    const mark = markOf(item, severity)
    if (before?.mark === mark && before.hasPicture) return
    await askForObjects(item, !before)
    const { detection, objectId } = toDetection(item, severity, objects.get)
    const state = { severity, startTime: item.start_time, isOver, mark, ...(objectId !== undefined && { objectId }) }
    const isNews = before?.mark !== mark
    // A current item is reported at once; a finished one can wait for its picture.
    if (isNews && !isOver) {
      await options.report([detection])
      progress.set(item.id, { ...state, hasPicture: before?.hasPicture ?? false })
    }
    const wantsPicture = !before?.hasPicture || isOver || before.objectId !== objectId
    const jpeg = wantsPicture && objectId !== undefined ? await pictureOf(objectId) : undefined
    if (jpeg || (isNews && isOver))
      await options.report([{ ...detection, ...(jpeg && { thumbnail: jpeg.toString('base64') }) }])
    progress.set(item.id, { ...state, hasPicture: jpeg !== undefined || (before?.hasPicture ?? false) || isOver })
  }

  /** Frigate reports objects before the review item; after an outage the agent requests them. */
  async function askForObjects(item: ReviewItem, isFirst: boolean): Promise<void> {
    const unknown = item.data.detections.filter((id) => !objects.get(id))
    if (unknown.length === 0 || (!isFirst && item.end_time === null && unknown.length < item.data.detections.length))
      return
    const timed = AbortSignal.any([signal, AbortSignal.timeout(OBJECT_TIMEOUT_MS)])
    await Promise.all(unknown.slice(0, OBJECTS_ASKED).map((id) => askForObject(id, timed)))
  }

  async function askForObject(id: string, timed: AbortSignal): Promise<void> {
    try {
      const bytes = await client.read(`/api/events/${encodeURIComponent(id)}`, { signal: timed })
      const read = readMessage(trackedObject, bytes)
      if (read.problem === undefined) objects.takeStored(read.value)
      else log.debug({ object: id }, `Frigate's object ${read.problem}`)
    } catch (error) {
      if (!(error instanceof FrigateError)) throw error
      log.debug({ object: id, reason: error.message }, 'an object stays unknown')
    }
  }

  async function pictureOf(objectId: string): Promise<Buffer | undefined> {
    try {
      return await readThumbnail(client, objectId, signal)
    } catch (error) {
      if (!(error instanceof FrigateError)) throw error
      log.debug({ object: objectId, reason: error.message }, 'there is no picture yet')
      return undefined
    }
  }

  return {
    take(item) {
      if (!isWanted(item)) return true
      if (!waiting.has(item.id) && waiting.size >= WAITING_MAX) return false
      if (waiting.size === 0 && inWork.size === 0) idle = Promise.withResolvers()
      waiting.set(item.id, item)
      work()
      return true
    },
    settled: () => idle.promise,
  }
}

/** The fields whose changes are worth another report. */
function markOf({ end_time: end, data }: ReviewItem, severity: string): string {
  return JSON.stringify([severity, end, data.objects.toSorted(), data.zones, data.detections.length, data.audio])
}
