import { expect, test } from 'vitest'
import { labelOf, registrationLink } from './invitation-text.ts'

test('an invitation has its label as its name, or its role without one', () => {
  expect(labelOf({ label: 'Spring helpers', role: 'user' })).toBe('Spring helpers')
  expect(labelOf({ label: '', role: 'manager' })).toBe('Invitation for a manager')
})

test('the link has the code after the #', () => {
  const link = new URL(registrationLink('http://hub.example:8080', 'ABCD-EFGH-JKMN-PQRS'))
  expect(link.pathname + link.search).toBe('/register')
  expect(new URLSearchParams(link.hash.slice(1)).get('invite')).toBe('ABCD-EFGH-JKMN-PQRS')
})
