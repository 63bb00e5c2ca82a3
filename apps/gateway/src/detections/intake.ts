import { detection, type Detection } from '@hedgerow/contract'
import type { DetectionQueue } from '../hub/detection-queue.ts'

/** Takes every detection, from any source. */
export type Intake = {
  /**
   * Resolves when they are on disk. They reach the hub in this order. The same id again updates a detection. Rejects
   * with a ZodError when one is not a detection, and with the disk's error.
   */
  report(detections: readonly Detection[]): Promise<void>
}

export function createIntake({ queue }: { queue: DetectionQueue }): Intake {
  return {
    report: async (detections) => queue.append(detections.map((entry) => detection.parse(entry))),
  }
}
