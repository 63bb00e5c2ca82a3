/**
 * Reports refusals by limits to the operator: a counter for each limit in the metrics, and one log line a minute for
 * each limit, with the sources refused most. It does not log every refusal, because a flood must not fill the disk.
 */
import { networkOf } from './networks.ts'

const SUMMARY_INTERVAL_MS = 60_000
const SOURCES_NAMED = 5
/** Sources above this number are counted together. */
const SOURCES_MAX = 1_000

export type Limit = 'enrolment' | 'status' | 'gateway-calls' | 'approval-queue' | 'sign-in' | 'writes'

export type Refusals = {
  count(limit: Limit, address: string): void
  stop(): void
}

type Tally = { refused: number; sources: Map<string, number>; timer: NodeJS.Timeout }

export function createRefusals(options: {
  log: { warn(details: object, message: string): void }
  countRefusal: (limit: Limit) => void
  intervalMs?: number
}): Refusals {
  const { log, countRefusal, intervalMs = SUMMARY_INTERVAL_MS } = options
  /**
   * Limits that refused within the last interval. The first refusal is logged at once, the rest at the interval's end.
   */
  const tallies = new Map<Limit, Tally>()

  function report(limit: Limit, refused: number, counts: ReadonlyMap<string, number>): void {
    const sources = [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, SOURCES_NAMED)
      .map(([source, count]) => ({ source, refused: count }))
    log.warn({ limit, refused, sources }, 'requests were refused by a limit')
  }

  function conclude(limit: Limit): void {
    const tally = tallies.get(limit)
    if (!tally) return
    tallies.delete(limit)
    if (tally.refused === 0) return
    report(limit, tally.refused, tally.sources)
    begin(limit)
  }

  function begin(limit: Limit): void {
    const timer = setTimeout(() => conclude(limit), intervalMs).unref()
    tallies.set(limit, { refused: 0, sources: new Map(), timer })
  }

  return {
    count(limit, address) {
      countRefusal(limit)
      const network = networkOf(address)
      const tally = tallies.get(limit)
      if (!tally) {
        report(limit, 1, new Map([[network, 1]]))
        begin(limit)
        return
      }
      tally.refused++
      if (tally.sources.has(network) || tally.sources.size < SOURCES_MAX)
        tally.sources.set(network, (tally.sources.get(network) ?? 0) + 1)
    },
    stop() {
      for (const [limit, { timer, refused, sources }] of tallies) {
        clearTimeout(timer)
        if (refused > 0) report(limit, refused, sources)
      }
      tallies.clear()
    },
  }
}
