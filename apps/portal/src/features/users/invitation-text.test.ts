import { expect, test } from 'vitest'
import { labelOf, registrationLink } from './invitation-text.ts'

test('an invitation is called by its label, else by the role that it gives', () => {
  expect(labelOf({ label: 'Spring helpers', role: 'user' })).toBe('Spring helpers')
  expect(labelOf({ label: '', role: 'manager' })).toBe('Invitation for a manager')
})

test('the link carries the code behind the #', () => {
  const link = new URL(registrationLink('http://hub.example:8080', 'ABCD-EFGH-JKMN-PQRS'))
  expect(link.pathname + link.search).toBe('/register')
  expect(new URLSearchParams(link.hash.slice(1)).get('invite')).toBe('ABCD-EFGH-JKMN-PQRS')
})
