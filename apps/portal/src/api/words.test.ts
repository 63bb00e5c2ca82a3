import { expect, test } from 'vitest'
import { wordsOf } from './words.ts'

test.each([
  ['a message and a code', { error: 'claim_refused', message: 'No such gateway.' }, 'No such gateway.'],
  ['a message alone', { message: 'No such gateway.' }, 'No such gateway.'],
  ['an error alone', { error: 'Maintenance until 14:00' }, 'Maintenance until 14:00'],
  ['an error and a message that says nothing', { error: 'Maintenance', message: '  ' }, 'Maintenance'],
  ['an error and a message that is no text', { error: 'Maintenance', message: { text: 'x' } }, 'Maintenance'],
  ['an error and a page as the message', { error: 'Maintenance', message: 'x'.repeat(301) }, 'Maintenance'],
  ['neither', { status: 502 }, undefined],
  ['a list', ['error'], undefined],
  ['a page', '<html><h1>502 Bad Gateway</h1></html>', undefined],
  ['nothing', null, undefined],
])('finds the text of a body with %s', (_, body, words) => {
  expect(wordsOf(body)).toBe(words)
})
