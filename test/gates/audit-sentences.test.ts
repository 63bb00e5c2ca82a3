import { expect, it } from 'vitest'
import { auditAnswers, auditWords } from '@hedgerow/contract/audit-answers'

it('the words of the audit are those of the actions that entries name', () => {
  const named = Object.values(auditAnswers).flatMap((answer) => ('action' in answer ? [answer.action] : []))
  expect([...new Set(named)].toSorted()).toEqual(Object.keys(auditWords).toSorted())
})
