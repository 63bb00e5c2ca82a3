import type { AuditEntry } from '@hedgerow/contract'

/** Equal entries in a row: the newest of them, how many there are, and when the oldest was. */
export type Repeated = { entry: AuditEntry; count: number; since: string }

const PARTS = ['actor', 'action', 'target', 'sourceIp', 'result', 'reason'] as const satisfies (keyof AuditEntry)[]

/** Groups entries that differ in nothing but their time and follow each other. `entries` are newest first. */
export function groupRepeated(entries: readonly AuditEntry[]): Repeated[] {
  const groups: Repeated[] = []
  for (const entry of entries) {
    const group = groups.at(-1)
    if (group && PARTS.every((part) => group.entry[part] === entry[part])) {
      group.count++
      group.since = entry.at
    } else groups.push({ entry, count: 1, since: entry.at })
  }
  return groups
}
