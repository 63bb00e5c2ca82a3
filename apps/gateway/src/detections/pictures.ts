import type { Logger } from 'pino'
import type { Pictures } from '../sources/source.ts'
import type { DetectionRecord } from './record.ts'

/** The pictures of all sources. A detection without a snapshot shows the thumbnail that was reported with it. */
export function createPictures(sources: Pictures, record: DetectionRecord, log: Logger): Pictures {
  return {
    ...sources,
    async snapshot(detection, options) {
      try {
        const found = await sources.snapshot(detection, options)
        if (found) return found
      } catch (error) {
        log.warn({ err: error, id: detection.id }, 'the source gave no snapshot; the thumbnail takes its place')
      }
      return record.picture(detection.id)
    },
  }
}
