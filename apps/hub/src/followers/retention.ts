/** Retention: a change of how long records are kept counts at once. */
import type { CommitFollower } from '../kernel/facts.ts'

export function retentionChanges(retention: { purge(): Promise<void> }): CommitFollower<'settings.changed'> {
  return {
    name: 'retention',
    kinds: ['settings.changed'],
    stage: 'memory',
    afterCommit(facts) {
      // There may be millions of rows, and nobody waits for it.
      if (facts.some(({ data }) => 'logRetentionDays' in data.changes)) void retention.purge()
    },
  }
}
