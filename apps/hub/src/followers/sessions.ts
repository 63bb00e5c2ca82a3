/** Sessions: what a user's password or rights had opened ends at once, pages and streams too. */
import type { CommitFollower } from '../facts/facts.ts'

const KINDS = [
  'user.role-changed',
  'user.activated',
  'user.deactivated',
  'user.password-changed',
  'user.password-reset',
  'user.two-factor-reset',
  'user.deleted',
] as const

export function endedSessions(sessions: {
  endAllOf(userId: string): Promise<void>
}): CommitFollower<(typeof KINDS)[number]> {
  return {
    name: 'sessions',
    kinds: KINDS,
    stage: 'memory',
    async afterCommit(facts) {
      // Without a target the actor did it to themselves.
      const userIds = new Set(facts.map(({ target, actor }) => target ?? actor.userId))
      for (const userId of userIds) if (userId !== undefined) await sessions.endAllOf(userId)
    },
  }
}
