/** Alerts: messages of alert rules enter the outbox in the transaction that stores their incidents. */
import type { CommitFollower, TransactionFollower } from '../facts/facts.ts'
import { tell } from '../alerts/alerts.ts'
import type { Notifications } from '../notifications/notifications.ts'

const kinds = ['detection.reported'] as const

export function alerts(
  notifications: Pick<Notifications, 'announce' | 'waitsUnder'>,
): TransactionFollower<(typeof kinds)[number]> {
  return {
    name: 'alerts',
    kinds,
    async inTransaction(transaction, facts) {
      for (const { at, gatewayId = '', data } of facts)
        await tell(
          transaction,
          { at, gatewayId, gatewayName: data.gatewayName, incidents: data.incidents },
          notifications,
        )
    },
  }
}

export function alertDelivery({ wake }: Pick<Notifications, 'wake'>): CommitFollower<(typeof kinds)[number]> {
  return {
    name: 'alert-delivery',
    kinds,
    stage: 'tell',
    afterCommit: (facts) => {
      if (facts.some(({ data }) => data.incidents.length > 0)) wake()
    },
  }
}
