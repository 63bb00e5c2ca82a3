/** Admits held devices as soon as the hub has room for them, or the reason for their hold has ended. */
import type { CommitFollower } from '../facts/facts.ts'

type Kind =
  | 'settings.changed'
  | 'auto-approval.changed'
  | 'gateway.deleted'
  | 'gateway.rekeyed'
  // Room may have appeared between the attempt and this record of its failure.
  | 'registration.held'

export function heldDevices(admitHeld: () => Promise<void>): CommitFollower<Kind> {
  return {
    name: 'held-devices',
    kinds: ['settings.changed', 'auto-approval.changed', 'gateway.deleted', 'gateway.rekeyed', 'registration.held'],
    stage: 'notify',
    afterCommit: () => admitHeld(),
  }
}
