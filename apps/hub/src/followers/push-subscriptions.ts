/**
 * Push messages end with the session of their browser: on Logout, when the person ends that session elsewhere, and when
 * all sessions of a person end. A session that expires leaves them: alerts have to reach people who are away.
 */
import type { TransactionFollower } from '../facts/facts.ts'
import { ENDING_ALL_SESSIONS } from './sessions.ts'

type Kind = 'session.ended' | (typeof ENDING_ALL_SESSIONS)[number]

export const pushSubscriptions: TransactionFollower<Kind> = {
  name: 'push-subscriptions',
  kinds: ['session.ended', ...ENDING_ALL_SESSIONS],
  async inTransaction(transaction, facts) {
    for (const fact of facts) {
      const gone = transaction.deleteFrom('push_subscriptions')
      if (fact.kind === 'session.ended') await gone.where('session_id', '=', fact.data.sessionId).execute()
      else {
        // Without a target, the actor changed their own account.
        const userId = fact.target ?? fact.actor.userId
        if (userId !== undefined) await gone.where('user_id', '=', userId).execute()
      }
    }
  },
}
