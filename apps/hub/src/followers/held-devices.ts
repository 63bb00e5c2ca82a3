/** Held devices: they join as soon as the hub has room for them again, or what else held them has ended. */
import type { CommitFollower } from '../facts/facts.ts'

type Kind =
  | 'settings.changed'
  | 'auto-approval.changed'
  | 'gateway.deleted'
  | 'gateway.rekeyed'
  // There may have come room between the attempt and its failure being written down.
  | 'registration.held'

export function heldDevices(admitHeld: () => Promise<void>): CommitFollower<Kind> {
  return {
    name: 'held-devices',
    kinds: ['settings.changed', 'auto-approval.changed', 'gateway.deleted', 'gateway.rekeyed', 'registration.held'],
    stage: 'tell',
    afterCommit: () => admitHeld(),
  }
}
