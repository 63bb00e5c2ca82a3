import { expect, it } from 'vitest'
import { stateOf } from './channel-state.ts'

const at = '2026-11-22T07:00:00.000Z'
const failed = { status: 'failed', message: 'It answered 500.' } as const
const about = { isSet: true, problem: undefined, last: undefined, tested: undefined }

it('says the last outcome, also when a test from this page failed before', () => {
  const afterTest = { ...about, tested: failed, last: { at, error: failed.message } }
  expect(stateOf('ntfy', afterTest)).toEqual({ shape: 'diamond', reason: failed.message, failure: failed.message })
  expect(stateOf('ntfy', { ...afterTest, last: { at, error: null } })).toEqual({
    shape: 'dot',
    reason: 'Set up',
    failure: undefined,
  })
})

it('says that the server took a test, until a later message fails', () => {
  const taken = { ...about, tested: { status: 'sent', message: 'The ntfy server took it.' } } as const
  expect(stateOf('ntfy', taken).reason).toBe('The ntfy server took it.')
  const failure = 'The ntfy server answered 500.'
  expect(stateOf('ntfy', { ...taken, last: { at, error: failure } })).toMatchObject({ shape: 'diamond', failure })
})

it('says first why a channel reaches nobody', () => {
  const problem = 'There is no notification email.'
  const last = { at, error: failed.message }
  expect(stateOf('email', { ...about, problem, last })).toMatchObject({ shape: 'diamond', reason: problem })
})

it('says what works without setup, and what is not set up', () => {
  expect(stateOf('portal', about)).toMatchObject({ shape: 'dot', reason: 'The bell of the portal' })
  expect(stateOf('ntfy', { ...about, isSet: false })).toMatchObject({ shape: 'neutral', reason: 'Not set up' })
})
