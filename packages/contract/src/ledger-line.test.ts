import { expect, test } from 'vitest'
import type { LedgerEntry } from './deterrents.ts'
import { ledgerLine } from './ledger-line.ts'

const by = { kind: 'rule', name: 'Boar at night' } as const

test.each<[Partial<LedgerEntry>, string]>([
  [{ kind: 'fired', seconds: 10, by }, 'sprinkler fired for 10 s by Boar at night'],
  [{ kind: 'ended', seconds: 9, by }, 'sprinkler ended after 9 s'],
  [{ kind: 'refused', by, message: 'it cools down' }, 'sprinkler refused by Boar at night: it cools down'],
  [{ kind: 'snoozed', by: { kind: 'person', name: 'rosa' } }, 'everything was snoozed by rosa'],
  [{ kind: 'maintenance', by: { kind: 'person', name: 'rosa' } }, 'maintenance was begun by rosa'],
  [{ kind: 'snooze-ended', camera: 'gate', by }, 'the snooze of camera gate was ended by Boar at night'],
  [{ kind: 'snooze-ended', message: 'its time is over' }, 'the snooze of everything is over'],
  [{ kind: 'looked', by, gone: true }, 'sprinkler: a minute later it was gone'],
  [{ kind: 'looked', by, gone: false }, 'sprinkler: a minute later it was still there'],
  [{ kind: 'looked', by, gone: null }, 'sprinkler: a minute later it was unknown whether it was gone'],
])('%o is said as “%s”', (entry, words) => {
  expect(ledgerLine({ id: 1, at: 0, kind: 'fired', deterrent: 'sprinkler', ...entry })).toBe(words)
})

test('what is about all deterrents names none', () => {
  expect(ledgerLine({ id: 1, at: 0, kind: 'disarmed', by })).toBe('disarmed by Boar at night')
})
