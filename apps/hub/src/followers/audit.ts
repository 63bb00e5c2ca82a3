/** The audit: writes the entries of the facts that leave one. */
import type { Fact, FactKind } from '@hedgerow/contract'
import { auditAnswers, type AuditAnswer } from '@hedgerow/contract/audit-answers'
import { writeAudit } from '../audit/audit.ts'
import type { TransactionFollower } from '../facts/facts.ts'

export const audit: TransactionFollower = {
  name: 'audit',
  kinds: (Object.keys(auditAnswers) as FactKind[]).filter((kind) => 'action' in auditAnswers[kind]),
  async inTransaction(transaction, facts) {
    for (const fact of facts) await writeEntry(transaction, fact)
  },
}

async function writeEntry<K extends FactKind>(
  transaction: Parameters<TransactionFollower['inTransaction']>[0],
  fact: Fact<K>,
): Promise<void> {
  const answer: AuditAnswer<K> | { none: string } = auditAnswers[fact.kind as K]
  if ('none' in answer) return
  const { actor } = fact
  await writeAudit(transaction, {
    actor: actor.name,
    actorId: actor.userId,
    action: answer.action,
    target: answer.target ? answer.target(fact) : fact.target,
    sourceIp: actor.sourceIp,
    result: typeof answer.result === 'function' ? answer.result(fact) : (answer.result ?? 'ok'),
    reason: answer.reason?.(fact),
  })
}
