/** Retention: a changed limit of age or amount takes effect at once. */
import type { CommitFollower } from '../facts/facts.ts'

export function retentionChanges(retention: {
  purge(): Promise<void>
  trim(): Promise<void>
}): CommitFollower<'settings.changed'> {
  return {
    name: 'retention',
    kinds: ['settings.changed'],
    stage: 'memory',
    afterCommit(facts) {
      // Not awaited, because there may be millions of rows and no caller needs the result.
      const changed = new Set(facts.flatMap(({ data }) => Object.keys(data.changes)))
      if (changed.has('logRetentionDays')) void retention.purge()
      if (changed.has('detectionsKept') || changed.has('detectionMegabytesKept')) void retention.trim()
    },
  }
}
