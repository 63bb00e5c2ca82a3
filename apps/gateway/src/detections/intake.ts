import { detection, type Detection } from '@hedgerow/contract'
import type { Logger } from 'pino'
import type { DetectionQueue } from '../hub/detection-queue.ts'
import { jpegSize } from '../jpeg.ts'
import type { DetectionRecord } from './record.ts'

/** Takes every detection, from any source. */
export type Intake = {
  /**
   * Resolves when they are on disk. They reach the hub in this order. The same id again updates a detection. Rejects
   * with a ZodError when one is not a detection, and with the disk's error.
   */
  report(detections: readonly Detection[]): Promise<void>
  /** Adds a firing to a detection, and sends the update to the hub. */
  addFiring(detectionId: string, firing: DetectionFiring): Promise<void>
}

/** One use of a deterrent, or the attempt, as a detection lists it. */
export type DetectionFiring = NonNullable<Detection['firings']>[number]

export type IntakeOptions = {
  queue: DetectionQueue
  record: DetectionRecord
  /** Called for each, before the disk has it: deterrents work when the disk is full. */
  onSeen(detection: Detection): void
  log: Logger
}

/** The contract's limit. */
const FIRINGS_MAX = 16

export function createIntake({ queue, record, onSeen, log }: IntakeOptions): Intake {
  function keep(report: Detection): Detection {
    try {
      return record.put(report)
    } catch (error) {
      log.error({ err: error, id: report.id }, 'a detection is missing in the record of this device')
      return report
    }
  }

  return {
    async report(detections) {
      const checked = detections.map((entry) => withoutBrokenPicture(detection.parse(entry), log))
      for (const entry of checked) onSeen(keep(entry))
      await queue.append(checked)
    },
    async addFiring(detectionId, firing) {
      const found = record.find(detectionId)
      if (!found) return
      const firings = [...(found.firings ?? []), firing].slice(-FIRINGS_MAX)
      const deterrent = firing.outcome === 'fired' ? firing.deterrent : found.deterrent
      await queue.append([record.put({ ...found, firings, ...(deterrent !== undefined && { deterrent }) })])
    },
  }
}

/** A detection counts without its picture too. */
function withoutBrokenPicture(entry: Detection, log: Logger): Detection {
  const { thumbnail, ...rest } = entry
  if (thumbnail === undefined || jpegSize(Buffer.from(thumbnail, 'base64'))) return entry
  log.warn({ id: entry.id, camera: entry.camera }, 'a thumbnail is not a whole JPEG and is left out')
  return rest
}
