import type { NewLedgerEntry } from './ledger-entry.ts'
import type { Instant } from './saved-state.ts'

/**
 * A rule that fires in a loop must not fill the disk: the first of each kind is written, what repeats it within a
 * minute is counted, and the count is written when the minute is over. Pure.
 */
const WINDOW_MS = 60_000
/** Kinds that are counted apart; the others share one. */
const KINDS_MAX = 200

export function createRefusalCount() {
  const counted = new Map<string, { until: number; times: number; entry: Omit<NewLedgerEntry, 'at'> }>()

  return {
    /** The entry to write now, or undefined when it is only counted. */
    count(entry: Omit<NewLedgerEntry, 'at'>, now: Instant): NewLedgerEntry | undefined {
      const ownKey = keyOf(entry)
      const key = counted.has(ownKey) || counted.size < KINDS_MAX ? ownKey : 'others'
      const before = counted.get(key)
      if (before && before.until > now.mono) {
        before.times += 1
        return undefined
      }
      counted.set(key, { until: now.mono + WINDOW_MS, times: 0, entry })
      return { at: now.wall, ...entry, ...(before && before.times > 0 && { times: before.times }) }
    },
    /** What repeated in minutes that are over. */
    due(now: Instant): NewLedgerEntry[] {
      return [...counted].flatMap(([key, { until, times, entry }]) => {
        if (until > now.mono) return []
        counted.delete(key)
        return times > 0 ? [{ at: now.wall, ...entry, times }] : []
      })
    },
    nextDeadline(): number | undefined {
      return counted.size === 0 ? undefined : Math.min(...[...counted.values()].map(({ until }) => until))
    },
  }
}

/** Names that callers choose freely do not make kinds of their own. */
function keyOf({ kind, deterrent, code, by }: Omit<NewLedgerEntry, 'at'>): string {
  const who = by?.kind === 'rule' ? `rule ${by.rule}` : by?.kind === 'person' ? by.via : by?.kind
  return JSON.stringify([kind, code, code === 'unknown_deterrent' ? '' : deterrent, who])
}
