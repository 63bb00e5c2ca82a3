import type { Gateway } from '@hedgerow/contract'
import { isProtected } from '@hedgerow/contract/protection'

type Trouble = Pick<Gateway, 'id' | 'name' | 'status' | 'protection' | 'lastSeen' | 'troubleSince'>

/**
 * Gateways that are not online, or known not to protect: `failing` has offline ones first, then by when their trouble
 * began, the newest first; `never` has those that never connected, by name.
 */
export function findTroubles<G extends Trouble>(
  gateways: readonly G[],
): { failing: readonly G[]; never: readonly G[] } {
  const troubled = gateways.filter(
    ({ status, protection }) => status !== 'online' || !(isProtected(protection) || protection.state === 'unproven'),
  )
  const offlineFirst = (a: G, b: G) => Number(b.status === 'offline') - Number(a.status === 'offline')
  const byName = (a: G, b: G) => a.name.localeCompare(b.name)
  return {
    failing: troubled
      .filter(({ lastSeen }) => lastSeen !== null)
      .toSorted(
        (a, b) => offlineFirst(a, b) || (b.troubleSince ?? '').localeCompare(a.troubleSince ?? '') || byName(a, b),
      ),
    never: troubled.filter(({ lastSeen }) => lastSeen === null).toSorted(byName),
  }
}
