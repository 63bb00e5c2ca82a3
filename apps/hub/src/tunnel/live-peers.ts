/** Live peers: adds and removes the tunnel's peer as soon as the change of a gateway is committed. */
import type { Fact } from '@hedgerow/contract'
import type { CommitFollower } from '../facts/facts.ts'
import type { LivePeers } from './tunnel.ts'

type Kind = 'gateway.approved' | 'gateway.rekeyed' | 'gateway.added' | 'gateway.deleted'

export function livePeers(peers: LivePeers): CommitFollower<Kind> {
  return {
    name: 'live-peers',
    kinds: ['gateway.approved', 'gateway.rekeyed', 'gateway.added', 'gateway.deleted'],
    stage: 'memory',
    async afterCommit(facts) {
      for (const fact of facts) await peers.refresh(gatewayOf(fact))
    },
  }
}

function gatewayOf(fact: Fact<Kind>): { gatewayId: string | undefined; formerPublicKey: string | undefined } {
  const former =
    fact.kind === 'gateway.deleted'
      ? fact.data.publicKey
      : fact.kind === 'gateway.rekeyed'
        ? fact.data.replacedPublicKey
        : null
  return { gatewayId: fact.gatewayId, formerPublicKey: former ?? undefined }
}
