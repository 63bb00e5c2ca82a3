/** Channels: one that an admin has changed works with its new settings at once. */
import type { CommitFollower } from '../facts/facts.ts'

export function changedChannels(channels: { open(name: string): Promise<void> }): CommitFollower<'channel.changed'> {
  return {
    name: 'channels',
    kinds: ['channel.changed'],
    stage: 'memory',
    async afterCommit(facts) {
      for (const { target } of facts) if (target !== undefined) await channels.open(target)
    },
  }
}
