/** Sessions: ends pages and streams at once when a user's password or rights change. */
import type { CommitFollower } from '../facts/facts.ts'

/** The facts after which a person has no session left. */
export const ENDING_ALL_SESSIONS = [
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
}): CommitFollower<(typeof ENDING_ALL_SESSIONS)[number]> {
  return {
    name: 'sessions',
    kinds: ENDING_ALL_SESSIONS,
    stage: 'memory',
    async afterCommit(facts) {
      // Without a target, the actor changed their own account.
      const userIds = new Set(facts.map(({ target, actor }) => target ?? actor.userId))
      for (const userId of userIds) if (userId !== undefined) await sessions.endAllOf(userId)
    },
  }
}
