import type { Gateway } from '@hedgerow/contract'

type Trouble = Pick<Gateway, 'id' | 'name' | 'status' | 'statusReason' | 'lastSeen' | 'troubleSince'>

/**
 * Gateways that are not online: `failing` sorted by when their trouble began, the newest failure first, and `never` for
 * those that never connected, by name.
 */
export function findTroubles<G extends Trouble>(
  gateways: readonly G[],
): { failing: readonly G[]; never: readonly G[] } {
  const troubled = gateways.filter(({ status }) => status !== 'online')
  const byName = (a: G, b: G) => a.name.localeCompare(b.name)
  return {
    failing: troubled
      .filter(({ lastSeen }) => lastSeen !== null)
      .toSorted((a, b) => (b.troubleSince ?? '').localeCompare(a.troubleSince ?? '') || byName(a, b)),
    never: troubled.filter(({ lastSeen }) => lastSeen === null).toSorted(byName),
  }
}
