import { expect, it } from 'vitest'
import { AUDIT_ACTIONS } from '../../apps/hub/src/followers/audit.ts'
import { sentenceOf } from '../../apps/portal/src/features/audit/sentences.ts'

it('the portal has a sentence for every action of the audit', () => {
  const about = { actor: 'rosa', target: 'x', subject: null, sourceIp: null, reason: null }
  const entry = { id: '1', at: '2026-11-22T07:00:00.000Z', ...about }
  const names = { gateways: [], users: [] }
  const bare = AUDIT_ACTIONS.filter((action) => sentenceOf({ ...entry, result: 'ok', action }, names).words === action)
  expect(bare).toEqual([])
})
