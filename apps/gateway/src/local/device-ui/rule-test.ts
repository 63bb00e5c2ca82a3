import type { DetectionRecord } from '../../detections/record.ts'
import type { DeviceFile } from '../../device-file/schema.ts'
import { dryRun, type DryRun } from '../../rules/dry-run.ts'
import type { Recent } from '../../rules/rehearse.ts'

const DAY_MS = 86_400_000
/** The newest detections that a run uses at most. */
const DETECTIONS_MAX = 500
const KEEP_MS = 15_000

type Detections = Pick<DetectionRecord, 'recent' | 'objectsOf'>

/** What was detected in the last 24 hours, oldest first. */
export function lastDay({ recent, objectsOf }: Detections): Recent {
  const detections = recent({ since: Date.now() - DAY_MS, limit: DETECTIONS_MAX }).toReversed()
  const objects = detections.flatMap(({ id }) => {
    const own = objectsOf(id)
    return own ? [[id, own] as const] : []
  })
  return { detections, objects: new Map(objects) }
}

/** What the rules in force would have done in the last 24 hours; the answer is cached for a moment, for everybody. */
export function createRuleTest({ file, record }: { file: () => DeviceFile; record: Detections }): () => DryRun {
  let last: { file: DeviceFile; at: number; run: DryRun } | undefined
  return () => {
    const [now, current] = [Date.now(), file()]
    if (last?.file === current && Math.abs(now - last.at) < KEEP_MS) return last.run
    const { detections, objects } = lastDay(record)
    last = { file: current, at: now, run: dryRun(current, detections, (id) => objects.get(id)) }
    return last.run
  }
}
