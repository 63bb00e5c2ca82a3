/** The rows of Recent Activity: what came, as it came; only what repeats within a minute is one row. Pure. */
import type { ActivityEntry } from '@hedgerow/contract'

const TOGETHER_MS = 60_000

/** An entry, and how often it came in the minute before. */
export type ActivityLine = { entry: ActivityEntry; times: number }

/** `entries` newest first. What a camera saw is always a row of its own: each has its own picture. */
export function activityLines(entries: readonly ActivityEntry[]): ActivityLine[] {
  const lines: ActivityLine[] = []
  const newest = new Map<string, ActivityLine>()
  for (const entry of entries) {
    const key = JSON.stringify([entry.kind, entry.type, entry.gatewayId, entry.message])
    const line = entry.detection === null ? newest.get(key) : undefined
    if (line && Date.parse(line.entry.timestamp) - Date.parse(entry.timestamp) <= TOGETHER_MS) line.times++
    else {
      const own = { entry, times: 1 }
      lines.push(own)
      newest.set(key, own)
    }
  }
  return lines
}
