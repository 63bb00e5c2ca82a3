const INTERVAL_MS = 60_000

/** Calls `report` at once, then at most once a minute, with the first value since the last call and their number. */
export function onceAMinute<T>(report: (first: T, count: number) => void): (value: T) => void {
  let waiting: { first: T; count: number } | undefined
  let reportedAt = -Infinity

  function flush(): void {
    if (!waiting) return
    const { first, count } = waiting
    waiting = undefined
    reportedAt = performance.now()
    report(first, count)
  }

  return (value) => {
    if (waiting) {
      waiting.count++
      return
    }
    waiting = { first: value, count: 1 }
    const waitMs = reportedAt + INTERVAL_MS - performance.now()
    if (waitMs <= 0) flush()
    else setTimeout(flush, waitMs).unref()
  }
}
