/** Answers the open status request of a device at once after its decision. */
import type { Fact } from '@hedgerow/contract'
import type { CommitFollower } from '../facts/facts.ts'

type Kind = 'gateway.approved' | 'gateway.rekeyed' | 'registration.rejected' | 'registration.source-rejected'

export function waitingDevices(waiters: { wake(registrationId: string): void }): CommitFollower<Kind> {
  return {
    name: 'waiters',
    kinds: ['gateway.approved', 'gateway.rekeyed', 'registration.rejected', 'registration.source-rejected'],
    stage: 'notify',
    afterCommit(facts) {
      for (const id of facts.flatMap(decidedBy)) waiters.wake(id)
    },
  }
}

function decidedBy(fact: Fact<Kind>): string[] {
  if (fact.kind === 'registration.source-rejected') return fact.data.registrationIds
  return fact.target === undefined ? [] : [fact.target]
}
