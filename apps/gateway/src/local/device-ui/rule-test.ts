import type { Rehearsal } from '@hedgerow/contract/device-interface'
import type { DetectionRecord } from '../../detections/record.ts'
import type { DeviceFile } from '../../device-file/schema.ts'
import { dryRun, type DryRun } from '../../rules/dry-run.ts'
import { ruleSentence } from '../../rules/sentence.ts'

const DAY_MS = 86_400_000
/** The newest detections that a run uses at most: meanwhile a small board does nothing else. */
const DETECTIONS_MAX = 500
const KEEP_MS = 15_000

type Detections = Pick<DetectionRecord, 'recent' | 'objectsOf'>

function lastDay(record: Detections): (file: DeviceFile) => DryRun {
  const detections = record.recent({ since: Date.now() - DAY_MS, limit: DETECTIONS_MAX }).toReversed()
  return (file) => dryRun(file, detections, record.objectsOf)
}

/** What the rules in force would have done in the last 24 hours; the answer is cached for a moment, for everybody. */
export function createRuleTest({ file, record }: { file: () => DeviceFile; record: Detections }): () => DryRun {
  let last: { file: DeviceFile; at: number; run: DryRun } | undefined
  return () => {
    const [now, current] = [Date.now(), file()]
    if (last?.file === current && Math.abs(now - last.at) < KEEP_MS) return last.run
    last = { file: current, at: now, run: lastDay(record)(current) }
    return last.run
  }
}

/** What the rules would have done in the last 24 hours after a change of the file, and before it. */
export function rehearse(record: Detections, file: DeviceFile, fileBefore: DeviceFile): Rehearsal {
  const run = lastDay(record)
  const [after, before] = [run(file), run(fileBefore)]
  const firing = (answers: DryRun['detections'][number]['answers']) =>
    answers.flatMap(({ rule, fires }) => (fires ? [rule] : []))
  return {
    rules: file.rules.map((rule) => ({
      name: rule.name,
      sentence: ruleSentence(rule),
      fired: after.fired[rule.name] ?? 0,
      firedBefore: before.fired[rule.name] ?? null,
    })),
    detections: after.detections
      .map(({ detection: { id, label, camera, score, startedAt }, answers }, index) => ({
        id,
        label,
        camera,
        score,
        startedAt,
        rules: firing(answers),
        rulesBefore: firing(before.detections[index]!.answers),
      }))
      .filter(({ rules, rulesBefore }) => rules.length + rulesBefore.length > 0)
      .toReversed(),
  }
}
