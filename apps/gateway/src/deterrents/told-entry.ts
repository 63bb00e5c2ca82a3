import type { LedgerEntry as ToldEntry } from '@hedgerow/contract'
import type { LedgerEntry } from './ledger-entry.ts'

const TEXT_MAX = 500
const NAME_MAX = 200
const ID_MAX = 100

/** An entry as the hub and people get it, within the contract's limits. */
export function toldEntry({ by, from, deterrent, firing, answer, code, message, ...entry }: LedgerEntry): ToldEntry {
  return {
    ...entry,
    at: Math.max(0, Math.floor(entry.at)),
    ...(by && { by: actorOf(by) }),
    ...(from !== undefined && { from: from.slice(0, ID_MAX) }),
    ...(deterrent !== undefined && { deterrent: deterrent.slice(0, ID_MAX) }),
    ...(firing !== undefined && { firing: firing.slice(0, ID_MAX) }),
    ...(entry.camera !== undefined && { camera: entry.camera.slice(0, ID_MAX) }),
    ...(answer !== undefined && { answer: answer.slice(0, TEXT_MAX) }),
    ...(code !== undefined && { code }),
    ...(message !== undefined && { message: message.slice(0, TEXT_MAX) }),
  }
}

function actorOf(by: NonNullable<LedgerEntry['by']>): ToldEntry['by'] {
  if (by.kind === 'program') return { kind: 'program' }
  if (by.kind === 'person') return { kind: 'person', name: by.name.slice(0, NAME_MAX), via: by.via }
  const chose = by.chose?.slice(0, NAME_MAX)
  const detection = by.detectionId.slice(0, ID_MAX)
  return { kind: 'rule', name: by.rule.slice(0, NAME_MAX), detection, ...(chose !== undefined && { chose }) }
}
