const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * The last-seen display of specification section 4. A time that lies ahead (the browser's clock is behind the
 * hub's) reads as just now.
 */
export function lastSeen(at: string | null, nowMs: number): string {
  if (at === null) return 'Never'
  const ageMs = nowMs - Date.parse(at)
  if (ageMs < MINUTE_MS) return 'Just now'
  if (ageMs < HOUR_MS) return `${Math.floor(ageMs / MINUTE_MS)}m ago`
  if (ageMs < DAY_MS) return `${Math.floor(ageMs / HOUR_MS)}h ago`
  return new Date(at).toLocaleDateString()
}
