import type { Detection } from '@hedgerow/contract'
import { isPersonLabel } from '../kernel/person-label.ts'
import type { DetectedObject } from '../sources/source.ts'

/**
 * Whether the detection shows a person now. Its label stays that of a person who left while others are still there, so
 * its objects count if it has several.
 */
export function isPersonIn(
  { label }: Pick<Detection, 'label'>,
  objects: readonly DetectedObject[] | undefined,
): boolean {
  if (!objects) return isPersonLabel(label)
  return objects.some((object) => isPersonLabel(object.label) && object.endedAt === undefined)
}
