import { detection, type Detection, type Verdict } from '@hedgerow/contract'
import type { Logger } from 'pino'
import type { DetectionQueue } from '../hub/detection-queue.ts'
import { jpegSize } from '../kernel/jpeg.ts'
import type { Judgement } from '../learning/learning.ts'
import type { DetectedObject, Sight, SourceContext } from '../sources/source.ts'
import { SECOND_LOOK } from '../second-look/schema.ts'
import { isPersonIn } from './person-in.ts'
import type { DetectionRecord } from './record.ts'

/** Takes every detection, from any source. */
export type Intake = {
  /**
   * Resolves when the detections are on disk. They reach the hub in this order. The same id again updates a detection.
   * Rejects with a ZodError when an entry is not a detection, and with the disk's error.
   */
  report: SourceContext['report']
  follow: SourceContext['follow']
  /** Applies a decision of the device to the record and the hub's copy. False when there is no such detection. */
  update(detectionId: string, change: Partial<Pick<Detection, 'suppressed' | 'doubtful'>>): Promise<boolean>
  /** Adds a firing to a detection, and sends the update to the hub. */
  addFiring(detectionId: string, firing: DetectionFiring): Promise<void>
  /**
   * Adds a later stage's verdict on a detection that had this label, runs the rules again, and updates the hub. The
   * verdict belongs to the label: a detection that gets another label loses it.
   */
  addVerdict(detectionId: string, label: string, verdict: Verdict): Promise<void>
}

/** One use of a deterrent, or the attempt, as a detection lists it. */
export type DetectionFiring = NonNullable<Detection['firings']>[number]

export type IntakeOptions = {
  queue: DetectionQueue
  record: DetectionRecord
  /** Whether learning holds it back; answers at once when nothing may be held back. */
  judge(
    detection: Detection,
    context: { before: Detection | undefined; sight: Sight | undefined },
  ): Judgement | Promise<Judgement>
  /**
   * Called for each detection before it is on disk: deterrents work when the disk is full. `objects`: for a detection
   * of several objects.
   */
  onSeen(detection: Detection, objects: readonly DetectedObject[] | undefined): void
  /** Called instead of `onSeen` for a held-back detection. */
  onHeldBack(detection: Detection): void
  /** Called before the detection of a person is judged, so that deterrents stay off meanwhile. */
  onPerson(camera: string): void
  /** Whether this camera, or the whole device, is snoozed now. */
  isSnoozed(camera: string): boolean
  log: Logger
}

/** The contract's limit. */
const FIRINGS_MAX = 16
const VERDICTS_MAX = 16

/**
 * Detections of one camera are judged one after the other, so that an update never overtakes the detection that it
 * updates.
 */
export function createIntake(options: IntakeOptions): Intake {
  const { queue, record, log } = options
  const turns = new Map<string, Promise<unknown>>()

  function keep(report: Detection): Detection {
    try {
      return record.put(report)
    } catch (error) {
      log.error({ err: error, id: report.id }, 'a detection is missing in the record of this device')
      return report
    }
  }

  function keepObjects(id: string, objects: readonly DetectedObject[]): void {
    try {
      record.putObjects(id, objects)
    } catch (error) {
      log.error({ err: error, id }, 'the objects of a detection are missing in the record of this device')
    }
  }

  function find(id: string): Detection | undefined {
    try {
      return record.find(id)
    } catch {
      return undefined
    }
  }

  /** Calls `take` with the judgement of learning, at once where possible. */
  function judged(entry: Detection, sight: Sight | undefined, take: (judgement: Judgement) => Detection) {
    const waiting = turns.get(entry.camera)
    const judge = () => options.judge(entry, { before: find(entry.id), sight })
    const answer = waiting ? waiting.then(judge) : judge()
    if (!(answer instanceof Promise)) return take(answer)
    const taken = answer
      .catch((error: unknown): Judgement => {
        log.error({ err: error, id: entry.id }, 'a detection could not be judged, and is shown')
        return {}
      })
      .then(take)
    const turn: Promise<unknown> = taken.finally(() => {
      if (turns.get(entry.camera) === turn) turns.delete(entry.camera)
    })
    turns.set(entry.camera, turn)
    return taken
  }

  function take(
    entry: Detection,
    { verdict, named, ...flags }: Judgement,
    objects: readonly DetectedObject[] | undefined,
  ): Detection {
    const label = named?.label ?? entry.label
    const stages = [named?.verdict, verdict].filter((one) => one !== undefined)
    const own = stages.length > 0 ? [...(entry.verdicts ?? []), ...stages] : entry.verdicts
    const before = find(entry.id)
    const verdicts = withSecondLook(own, label, before)
    const snoozed = before ? before.snoozed === true : options.isSnoozed(entry.camera)
    const whole: Detection = { ...entry, label, ...flags, ...(verdicts && { verdicts }), ...(snoozed && { snoozed }) }
    const stored = keep(whole)
    if (objects) keepObjects(stored.id, objects)
    if (stored.suppressed) options.onHeldBack(stored)
    else options.onSeen(stored, objects)
    return whole
  }

  return {
    async report(detections, { sights, objects } = {}) {
      const checked = detections.map((entry) => ownWords(withoutBrokenPicture(detection.parse(entry), log)))
      const taken = checked.map((entry) => {
        const own = objects?.get(entry.id)
        if (isPersonIn(entry, own)) options.onPerson(entry.camera)
        return judged(entry, sights?.get(entry.id), (judgement) => take(entry, judgement, own))
      })
      await queue.append(
        taken.some((one) => one instanceof Promise)
          ? await Promise.all(taken.map(async (one) => one))
          : (taken as Detection[]),
      )
    },
    follow(detectionId, objects) {
      const found = find(detectionId)
      if (!found) return
      keepObjects(detectionId, objects)
      if (!found.suppressed) options.onSeen(found, objects)
    },
    async update(detectionId, change) {
      const found = record.find(detectionId)
      if (!found) return false
      await queue.append([record.put({ ...found, ...change })])
      return true
    },
    async addFiring(detectionId, firing) {
      const found = record.find(detectionId)
      if (!found) return
      const firings = [...(found.firings ?? []), firing].slice(-FIRINGS_MAX)
      const deterrent = firing.outcome === 'fired' ? firing.deterrent : found.deterrent
      await queue.append([record.put({ ...found, firings, ...(deterrent !== undefined && { deterrent }) })])
    },
    async addVerdict(detectionId, label, verdict) {
      const found = record.find(detectionId)
      if (found?.label !== label) return
      const others = (found.verdicts ?? []).filter(({ stage }) => stage !== verdict.stage)
      const stored = record.put({ ...found, verdicts: [...others.slice(0, VERDICTS_MAX - 1), verdict] })
      if (!stored.suppressed) options.onSeen(stored, record.objectsOf(detectionId))
      await queue.append([stored])
    },
  }
}

/** Keeps the second look's verdict, which the source of an update does not know, as long as the label stays. */
function withSecondLook(own: Verdict[] | undefined, label: string, before: Detection | undefined) {
  const isLater = ({ stage }: Verdict) => stage === SECOND_LOOK
  const later = before?.verdicts?.filter(isLater) ?? []
  if (later.length === 0 || own?.some(isLater)) return own?.slice(-VERDICTS_MAX)
  if (before?.label !== label) return own ?? before?.verdicts?.filter((verdict) => !isLater(verdict))
  return own && [...own, ...later].slice(-VERDICTS_MAX)
}

/** Removes fields that only this device may set. */
function ownWords({ suppressed: _suppressed, doubtful: _doubtful, snoozed: _snoozed, ...entry }: Detection): Detection {
  return entry
}

/** A detection without its picture still counts. */
function withoutBrokenPicture(entry: Detection, log: Logger): Detection {
  const { thumbnail, ...rest } = entry
  if (thumbnail === undefined || jpegSize(Buffer.from(thumbnail, 'base64'))) return entry
  log.warn({ id: entry.id, camera: entry.camera }, 'a thumbnail is not a whole JPEG and is left out')
  return rest
}
