import { expect, test } from 'vitest'
import { wordsOfRefusal } from './messages.ts'

test.each([
  ['the message', 400, { message: 'Taken.', errors: [{ message: 'no' }] }, 'Taken.'],
  [
    'the joined errors',
    400,
    { errors: [{ defaultMessage: 'Too short' }, { message: 'No address' }] },
    'Too short, No address',
  ],
  ['the joined field errors', 400, { fieldErrors: { email: 'No address', username: 'Taken' } }, 'No address, Taken'],
  ['field errors in a list', 400, { errors: [], fieldErrors: [{ message: 'No address' }] }, 'No address'],
  ['a text', 400, ' Not today. ', 'Not today.'],
  ['the message of another status', 409, { message: 'Taken.', error: 'username_taken' }, 'Taken.'],
  ['else its error', 503, { error: 'Busy' }, 'Busy'],
])('the message of a refusal is %s', (_, status, body, words) => {
  expect(wordsOfRefusal(body, status)).toBe(words)
})

test.each([
  [400, { message: '  ' }],
  [400, { errors: 'x', fieldErrors: null }],
  [400, '<html><h1>400 Bad Request</h1></html>'],
  [400, ''],
  [400, 'long '.repeat(100)],
  [502, 'Bad gateway'],
  [500, null],
  [0, undefined],
])('status %i with %j has no message, and the default is shown', (status, body) => {
  expect(wordsOfRefusal(body, status)).toBeUndefined()
})
