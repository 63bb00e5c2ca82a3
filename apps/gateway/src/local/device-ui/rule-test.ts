import type { DetectionRecord } from '../../detections/record.ts'
import type { DeviceFile } from '../../device-file/schema.ts'
import { dryRun, type DryRun } from '../../rules/dry-run.ts'

const DAY_MS = 86_400_000
/** The newest detections that a run uses at most: meanwhile a small board does nothing else. */
const DETECTIONS_MAX = 500
const KEEP_MS = 15_000

/** What the rules in force would have done in the last 24 hours; the answer is cached for a moment, for everybody. */
export function createRuleTest({
  file,
  record,
}: {
  file: () => DeviceFile
  record: Pick<DetectionRecord, 'recent' | 'objectsOf'>
}): () => DryRun {
  let last: { file: DeviceFile; at: number; run: DryRun } | undefined
  return () => {
    const [now, current] = [Date.now(), file()]
    if (last?.file === current && Math.abs(now - last.at) < KEEP_MS) return last.run
    const detections = record.recent({ since: now - DAY_MS, limit: DETECTIONS_MAX })
    last = { file: current, at: now, run: dryRun(current, detections.toReversed(), record.objectsOf) }
    return last.run
  }
}
