/** The lines of Recent Activity: a rush of entries of one kind is one line, so that it hides no picture. Pure. */
import type { ActivityEntry } from '@hedgerow/contract'

/** The number of lines that fit beside the chart. */
export const FIRST_LINES = 5
/** Fewer entries of a kind stay lines of their own. */
const RUSH = 3
/** Entries this much older than the newest of their kind are not part of its rush. */
const TOGETHER_MS = 3_600_000

/** An entry, and the number of older ones that its line includes. */
export type ActivityLine = { entry: ActivityEntry; others: number }

/** `entries` newest first. What a camera saw is always a line of its own. */
export function activityLines(entries: readonly ActivityEntry[]): ActivityLine[] {
  const rushes = [...Map.groupBy(entries, ({ kind, type }) => `${kind} ${type}`).values()].map((ofKind) =>
    ofKind.filter(({ detection, timestamp }) => detection === null && isNear(timestamp, ofKind[0]!.timestamp)),
  )
  const lines = new Map<ActivityEntry, ActivityLine>(entries.map((entry) => [entry, { entry, others: 0 }]))
  for (const [newest, ...others] of rushes.filter(({ length }) => length >= RUSH)) {
    lines.set(newest!, { entry: newest!, others: others.length })
    for (const other of others) lines.delete(other)
  }
  return [...lines.values()]
}

function isNear(older: string, newer: string): boolean {
  return Date.parse(newer) - Date.parse(older) <= TOGETHER_MS
}
