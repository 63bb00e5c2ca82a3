import type { Gateway } from '@hedgerow/contract'
import { needsAttention, urgency } from '#parts/protection.ts'

type Trouble = Pick<Gateway, 'id' | 'name' | 'status' | 'protection' | 'lastSeen' | 'troubleSince'>

/**
 * Gateways that need attention: `failing` has the worst first, of equal ones those whose trouble began last; `never`
 * has those that never connected, by name.
 */
export function findTroubles<G extends Trouble>(
  gateways: readonly G[],
): { failing: readonly G[]; never: readonly G[] } {
  const troubled = gateways.filter(needsAttention)
  const byName = (a: G, b: G) => a.name.localeCompare(b.name)
  return {
    failing: troubled
      .filter(({ lastSeen }) => lastSeen !== null)
      .toSorted(
        (a, b) => urgency(a) - urgency(b) || (b.troubleSince ?? '').localeCompare(a.troubleSince ?? '') || byName(a, b),
      ),
    never: troubled.filter(({ lastSeen }) => lastSeen === null).toSorted(byName),
  }
}
