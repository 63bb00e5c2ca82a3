import type { Detection } from '@hedgerow/contract'
import type { Rehearsal } from '@hedgerow/contract/device-interface'
import type { DetectedObject } from '../sources/source.ts'
import { dryRun, type DryRun, type DryRunFile } from './dry-run.ts'
import { ruleSentence } from './sentence.ts'

/** Detections, oldest first, and the objects of those that have several. */
export type Recent = {
  detections: readonly Detection[]
  objects: ReadonlyMap<string, readonly DetectedObject[]>
}

/** What the rules would have done with these detections after a change of the file, and before it. */
export function rehearse(file: DryRunFile, fileBefore: DryRunFile, { detections, objects }: Recent): Rehearsal {
  const run = (one: DryRunFile) => dryRun(one, detections, (id) => objects.get(id))
  const [after, before] = [run(file), run(fileBefore)]
  const firing = (answers: DryRun['detections'][number]['answers']) =>
    answers.flatMap(({ rule, fires }) => (fires ? [rule] : []))
  return {
    rules: file.rules.map((rule) => ({
      name: rule.name,
      sentence: ruleSentence(rule),
      fired: after.fired[rule.name] ?? 0,
      firedBefore: before.fired[rule.name] ?? null,
      reason: after.reasons[rule.name] ?? null,
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
