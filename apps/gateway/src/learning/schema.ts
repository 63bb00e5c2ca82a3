import { z } from 'zod'
import { hoursList } from '../kernel/hours.ts'
import { isMotionLabel } from '../kernel/motion-label.ts'
import { isPersonLabel } from '../kernel/person-label.ts'
import { isSameName } from '../kernel/same-name.ts'

/** The part `learning` of gateway.yaml. */
export const learningSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('When false, nothing is learned and nothing is held back.'),
  hours: hoursList.default('02:00-05:00').describe('When it learns, once a night.'),
  megabytes: z
    .number()
    .int()
    .min(8)
    .max(10_000)
    .default(100)
    .describe('The most space for the crops that it learns from; the oldest are deleted first.'),
  alsoLearn: z
    .record(z.string().min(1).max(100), z.array(z.string().min(1).max(100)).max(16))
    .default({})
    .describe(
      'Labels by camera that it may hold back, such as `gate: [person]`. Without this, it never holds back ' +
        'persons, fire, smoke and motion.',
    ),
})
export type LearningSettings = z.output<typeof learningSettings>

const FIRE_LABELS = new Set(['fire', 'flame', 'smoke'])

/**
 * Persons, fire, smoke and motion, which may be any of them, are never held back, unless `alsoLearn` names the label
 * for that camera.
 */
export function mayLearn({ alsoLearn }: Pick<LearningSettings, 'alsoLearn'>, camera: string, label: string): boolean {
  const isGrave = isPersonLabel(label) || isMotionLabel(label) || FIRE_LABELS.has(label.toLowerCase())
  const allowed = Object.entries(alsoLearn).flatMap(([name, labels]) => (isSameName(name, camera) ? labels : []))
  return !isGrave || allowed.some((name) => isSameName(name, label))
}
