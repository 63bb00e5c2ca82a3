import { detection, type Detection } from '@hedgerow/contract'
import type { DetectionQueue } from '../hub/detection-queue.ts'

/** Where every detection enters, whichever source saw it. */
export type Intake = {
  /**
   * Resolves when they are on disk; the hub gets them in this order as soon as it can. The same id again brings a
   * detection up to date. Rejects with a ZodError when one is not a detection, and with the disk's error.
   */
  report(detections: readonly Detection[]): Promise<void>
}

export function createIntake({ queue }: { queue: DetectionQueue }): Intake {
  return {
    report: async (detections) => queue.append(detections.map((entry) => detection.parse(entry))),
  }
}
