import type { NewLedgerEntry } from './ledger-entry.ts'
import type { Instant } from './saved-state.ts'

/**
 * Keeps a rule in a loop from filling the disk: the first refusal of each kind is written, repetitions within a minute
 * are counted, and the count is written at the end of the minute. Pure.
 */
const WINDOW_MS = 60_000
/** Kinds that are counted separately; all others share one. */
const KINDS_MAX = 200

export function createRefusalCount() {
  const counted = new Map<string, { until: number; times: number; entry: Omit<NewLedgerEntry, 'at'> }>()

  return {
    /** The entry to write now; undefined when it is only counted. */
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
    /** The counts of finished minutes. */
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

/** Names that callers choose freely are left out: they would make too many kinds. */
function keyOf({ kind, deterrent, code, by }: Omit<NewLedgerEntry, 'at'>): string {
  const who = by?.kind === 'rule' ? `rule ${by.rule}` : by?.kind === 'person' ? by.via : by?.kind
  return JSON.stringify([kind, code, code === 'unknown_deterrent' ? '' : deterrent, who])
}
