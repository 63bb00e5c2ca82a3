/** Gateways' pages: ends what a person may no longer see as soon as the change is committed. */
import { SCOPE_FACTS } from '../access/scope.ts'
import type { CommitFollower } from '../facts/facts.ts'

const KINDS = [
  ...SCOPE_FACTS,
  'gateway.edited',
  'gateway.rekeyed',
  'gateway.renamed',
  'settings.changed',
  'settings.restored',
] as const

export function gatewayPages(pages: { recheck(): Promise<void> }): CommitFollower<(typeof KINDS)[number]> {
  return { name: 'gateway-pages', kinds: KINDS, stage: 'memory', afterCommit: () => pages.recheck() }
}
