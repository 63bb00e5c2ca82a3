/** The first look at each detection, stored for the night: verifiers are trained on these. */
import type { Detection } from '@hedgerow/contract'
import { cropOf, type RgbImage } from '@hedgerow/vision'
import type { Logger } from 'pino'
import type { Place } from '../kernel/hours.ts'
import type { Sight } from '../sources/source.ts'
import type { LearningSettings } from './schema.ts'
import type { LearningStore, Look } from './store.ts'

const PICTURE_WITHIN_MS = 1_000
const TRIM_EVERY = 50
const LOOKS_AT_ONCE = 8

export type LooksOptions = {
  settings(): LearningSettings
  place(): Place
  /** The picture of a detection: the reported one of the object, or the source's whole one. */
  picture(detection: Detection, signal: AbortSignal): Promise<{ image: RgbImage; isWhole: boolean } | undefined>
  log: Logger
  /** Milliseconds since 1970. */
  clock: () => number
}

export type Looks = {
  /** Undefined when there is no picture in time. */
  take(detection: Detection, sight: Sight | undefined): Promise<Look | undefined>
  /** Whether none is stored yet; a stored look gets the detection's new label. */
  isNew(detection: Detection, before: Detection | undefined): boolean
  keep(look: Look): void
  /** Takes and stores a look in the background, because its picture may take a while. */
  takeLater(detection: Detection, sight: Sight | undefined): void
  stop(): void
}

export function createLooks(store: LearningStore, { log, clock, settings, place, picture }: LooksOptions): Looks {
  let added = 0
  let underWay = 0
  let isStopped = false

  async function take(detection: Detection, sight: Sight | undefined): Promise<Look | undefined> {
    const crop = sight?.crop ?? (await cropFrom(detection))
    if (!crop) return undefined
    const at = Date.parse(detection.startedAt)
    const box = detection.box && detection.box.width > 0 && detection.box.height > 0 ? detection.box : undefined
    return {
      id: detection.id,
      camera: detection.camera,
      label: detection.label,
      at,
      score: detection.score,
      hour: hourOf(at, place()),
      seconds: Math.max(0, (clock() - at) / 1_000),
      travel: sight?.travel ?? 0,
      box,
      crop,
      features: sight?.features,
    }
  }

  async function cropFrom(detection: Detection): Promise<RgbImage | undefined> {
    try {
      const found = await picture(detection, AbortSignal.timeout(PICTURE_WITHIN_MS))
      return found && cropOf(found.image, found.isWhole ? detection.box : undefined)
    } catch (error) {
      log.debug({ err: error, id: detection.id }, 'no picture to learn from')
      return undefined
    }
  }

  /** When the disk fails, this look is lost for learning. */
  function keep(look: Look): void {
    try {
      store.addLook(look)
      if (++added % TRIM_EVERY === 0) store.trim(settings().megabytes)
    } catch (error) {
      log.error({ err: error, id: look.id }, 'a look could not be stored for learning')
    }
  }

  return {
    take,
    keep,

    isNew({ id, label }, before) {
      try {
        if (!store.hasLook(id)) return true
        if (before?.label !== label) store.rename(id, label)
      } catch (error) {
        log.error({ err: error, id }, 'the file of looks cannot be read')
      }
      return false
    },

    takeLater(detection, sight) {
      if (underWay >= LOOKS_AT_ONCE) return
      underWay += 1
      void take(detection, sight)
        .then((look) => look && !isStopped && keep(look))
        .finally(() => (underWay -= 1))
    },

    stop() {
      isStopped = true
    },
  }
}

export function hourOf(at: number, { timeZone = Temporal.Now.timeZoneId() }: Place): number {
  const { hour, minute } = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone)
  return hour + minute / 60
}
