/** What else is kept of a gateway goes with it. After a crash the next start follows the facts that are left. */
import type { CommitFollower } from '../facts/facts.ts'

export function deletedGateways(keepers: {
  heartbeats: { forget(gatewayId: string): void }
  quota: { forget(gatewayId: string): void }
  retention: { forgetGateway(gatewayId: string): Promise<void> }
}): CommitFollower<'gateway.deleted'> {
  return {
    name: 'deleted-gateways',
    kinds: ['gateway.deleted'],
    stage: 'memory',
    afterCommit(facts) {
      for (const { gatewayId } of facts) {
        if (gatewayId === undefined) continue
        keepers.heartbeats.forget(gatewayId)
        keepers.quota.forget(gatewayId)
        // There may be millions of rows, and nobody waits for it.
        void keepers.retention.forgetGateway(gatewayId)
      }
    },
  }
}
