import type { Logger } from 'pino'
import { isPersonLabel } from '../../kernel/person-label.ts'
import type { DetectedObject, SourceContext } from '../source.ts'
import type { FrigateClient } from './client.ts'
import { FrigateError } from './failure.ts'
import { plainObject, type Items } from './items.ts'
import { isReplay, readMessage, trackedObject, type ReviewItem } from './messages.ts'
import type { Progress } from './progress.ts'
import type { FrigateSettings } from './schema.ts'
import { readThumbnail } from './thumbnail.ts'
import { bestOf, severityOf, toDetection, toMoment } from './to-detection.ts'
import type { SeenObject, TrackedObjects } from './tracked-objects.ts'

/**
 * Review items become detections: at once when an item begins or changes, then again with a picture. Items are handled
 * concurrently, the changes of one item in order; of its waiting changes, only the newest is reported.
 */
export type Reviews = {
  /** False when too many wait: the item has to be fetched later. */
  take(item: ReviewItem): boolean
  /** A message about this object came. `isOther`: it is not as it was. */
  onObject(object: SeenObject, isOther: boolean): void
  /** Resolves when nothing waits. */
  settled(): Promise<void>
}

export type ReviewsOptions = {
  settings: FrigateSettings
  client: FrigateClient
  objects: TrackedObjects
  items: Items
  progress: Progress
  context: Pick<SourceContext, 'report' | 'follow' | 'firesRule'>
  /** A person is there whom no message on `events` told of, or not yet. */
  onPerson(object: SeenObject): void
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
  const { settings, client, objects, items, progress, context, log, signal } = options
  const waiting = new Map<string, ReviewItem>()
  const inWork = new Set<string>()
  /** What people were last shown of open items. */
  const shown = new Map<string, string>()
  /** The items of which people should see another object, another zone or a higher score. */
  const changed = new Set<string>()
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
    const isOther = changed.delete(item.id) && !isOver
    if (before?.mark === mark && before.hasPicture && !isOther) return
    await fetchObjects(item)
    const best = bestOf(items.objectsOf(item), context.firesRule)
    const reported = objectsOf(item)
    const endedAt = item.end_time === null ? undefined : toMoment(endOf(item, client.now()))
    const detection = toDetection(item, severity, reported, best, { box: best?.box, endedAt })
    const objectId = best && objects.get(best.id) ? best.id : item.data.detections.toSorted()[0]
    const state = { severity, startTime: item.start_time, isOver, mark, ...(objectId !== undefined && { objectId }) }
    const isNews = before?.mark !== mark || isOther
    const view = viewOf(item)
    if (isOver) shown.delete(item.id)
    // A current item is reported at once; a finished one can wait for its picture.
    if (isNews && !isOver) {
      await context.report([detection], { objects: new Map([[item.id, reported]]) })
      progress.set(item.id, { ...state, hasPicture: before?.hasPicture ?? false })
      shown.set(item.id, view)
      followAfter(item, reported)
    }
    const wantsPicture = !before?.hasPicture || isOver || before.objectId !== objectId
    const jpeg = wantsPicture && objectId !== undefined ? await pictureOf(objectId) : undefined
    if ((isNews && isOver) || jpeg) {
      const now = objectsOf(item)
      const thumbnail = jpeg && { thumbnail: jpeg.toString('base64') }
      await context.report([{ ...detection, ...thumbnail }], { objects: new Map([[item.id, now]]) })
      if (!isOver) followAfter(item, now)
    }
    progress.set(item.id, { ...state, hasPicture: jpeg !== undefined || (before?.hasPicture ?? false) || isOver })
  }

  const objectsOf = (item: ReviewItem): DetectedObject[] => items.objectsOf(item).map(plainObject)

  /** Objects that changed while the report was written. */
  function followAfter(item: ReviewItem, reported: readonly DetectedObject[]): void {
    const now = objectsOf(item)
    if (JSON.stringify(now) !== JSON.stringify(reported)) context.follow(item.id, now)
    showAgain(item)
  }

  /** Reports the item again when people should see something else of it than they do. */
  function showAgain(item: ReviewItem): void {
    if (!progress.get(item.id) || shown.get(item.id) === viewOf(item)) return
    changed.add(item.id)
    // What waits is newer.
    if (!waiting.has(item.id) && !take(item)) options.onLost()
  }

  /** What people see of its objects; a score that rises a little is not worth another report. */
  function viewOf(item: ReviewItem): string {
    const all = items.objectsOf(item)
    const best = bestOf(all, context.firesRule)
    const labels = all.map(({ label }) => label).toSorted()
    return JSON.stringify([labels, best && [best.id, best.zones.at(-1), Math.floor(best.score * 10)]])
  }

  /** Frigate reports objects before the review item; after an outage the agent requests them. */
  async function fetchObjects(item: ReviewItem): Promise<void> {
    const unknown = item.data.detections.filter((id) => !objects.get(id))
    const timed = AbortSignal.any([signal, AbortSignal.timeout(OBJECT_TIMEOUT_MS)])
    await Promise.all(unknown.slice(0, OBJECTS_ASKED).map((id) => fetchObject(id, timed)))
  }

  async function fetchObject(id: string, timed: AbortSignal): Promise<void> {
    try {
      const bytes = await client.read(`/api/events/${encodeURIComponent(id)}`, { signal: timed })
      const read = readMessage(trackedObject, bytes)
      if (read.problem !== undefined) return log.debug({ object: id }, `Frigate's object ${read.problem}`)
      // A message about it may have come meanwhile, and is newer.
      const seen = objects.get(id) ?? objects.takeStored(read.value)
      notePerson(seen)
    } catch (error) {
      if (!(error instanceof FrigateError)) throw error
      log.debug({ object: id, reason: error.message }, 'an object stays unknown')
    }
  }

  function notePerson(object: SeenObject): void {
    if (isPersonLabel(object.label) && object.endedAt === undefined) options.onPerson(object)
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

  function take(item: ReviewItem): boolean {
    if (!isWanted(item)) return true
    if (!waiting.has(item.id) && waiting.size >= WAITING_MAX) return false
    if (waiting.size === 0 && inWork.size === 0) idle = Promise.withResolvers()
    waiting.set(item.id, item)
    work()
    return true
  }

  return {
    take(item) {
      if (isReplay(item.camera)) return true
      // A late message about an item that is over opens nothing.
      if (item.end_time !== null || !progress.get(item.id)?.isOver) items.take(item)
      // Before anything is decided or asked: a person may be known by this name only.
      if (item.end_time === null) for (const object of items.objectsOf(item)) notePerson(object)
      return take(item)
    },
    onObject(object, isOther) {
      const item = items.itemOf(object)
      if (!item || !isWanted(item)) return
      if (isOther || isPersonLabel(object.label)) context.follow(item.id, objectsOf(item))
      showAgain(item)
    },
    settled: () => idle.promise,
  }
}

/** The fields whose changes are worth another report. */
function markOf({ end_time: end, data }: ReviewItem, severity: string): string {
  const { objects, zones, detections, audio } = data
  return JSON.stringify([severity, end && String(end), objects.toSorted(), zones.toSorted(), detections.length, audio])
}

function endOf({ start_time: start, end_time: end }: ReviewItem, now: number): number {
  return Math.max(start, end !== null && Number.isFinite(end) ? end : now)
}
