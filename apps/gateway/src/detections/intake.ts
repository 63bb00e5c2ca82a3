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
}

export type IntakeOptions = {
  queue: DetectionQueue
  record: DetectionRecord
  log: Logger
}

export function createIntake({ queue, record, log }: IntakeOptions): Intake {
  function keep(report: Detection): void {
    try {
      record.put(report)
    } catch (error) {
      log.error({ err: error, id: report.id }, 'a detection is missing in the record of this device')
    }
  }

  return {
    async report(detections) {
      const checked = detections.map((entry) => withoutBrokenPicture(detection.parse(entry), log))
      for (const entry of checked) keep(entry)
      await queue.append(checked)
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
