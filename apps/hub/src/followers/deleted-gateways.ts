/** Deletes the other data of a deleted gateway. After a crash, the next start follows the remaining facts. */
import type { CommitFollower } from '../facts/facts.ts'

export function deletedGateways(keepers: {
  heartbeats: { remove(gatewayId: string): void }
  quota: { remove(gatewayId: string): void }
  retention: { deleteRowsOf(gatewayId: string): Promise<void> }
}): CommitFollower<'gateway.deleted'> {
  return {
    name: 'deleted-gateways',
    kinds: ['gateway.deleted'],
    stage: 'memory',
    afterCommit(facts) {
      for (const { gatewayId } of facts) {
        if (gatewayId === undefined) continue
        keepers.heartbeats.remove(gatewayId)
        keepers.quota.remove(gatewayId)
        // Not awaited, because there may be millions of rows and no caller needs the result.
        void keepers.retention.deleteRowsOf(gatewayId)
      }
    },
  }
}
