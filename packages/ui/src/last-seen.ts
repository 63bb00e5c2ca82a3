const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const DAYS_COUNTED = 60

/** How long ago something was seen. A future time (the browser's clock is behind the hub's) is shown as just now. */
export function lastSeen(at: string | null, nowMs: number): string {
  if (at === null) return 'Never'
  const ageMs = nowMs - Date.parse(at)
  if (ageMs < MINUTE_MS) return 'Just now'
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)}m ago`
  if (ageMs < DAY_MS) return `${Math.floor(ageMs / HOUR_MS)}h ago`
  return new Date(at).toLocaleDateString()
}

/** How far ahead a time is, in the same form; for a past time, how long ago it was. */
export function timeLeft(at: string, nowMs: number): string {
  const leftMs = Date.parse(at) - nowMs
  if (leftMs <= 0) return lastSeen(at, nowMs)
  if (leftMs < MINUTE_MS) return 'in under 1m'
  if (leftMs < HOUR_MS) return `in ${Math.floor(leftMs / MINUTE_MS)}m`
  if (leftMs < DAY_MS) return `in ${Math.floor(leftMs / HOUR_MS)}h`
  const days = Math.round(leftMs / DAY_MS)
  if (days <= DAYS_COUNTED) return days === 1 ? 'in 1 day' : `in ${days} days`
  return new Date(at).toLocaleDateString()
}
