import type { ChannelSetup } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { channelChange, channelValues, stateOf } from './channel-state.ts'

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

const field = {
  label: '',
  help: '',
  choices: [],
  default: null,
  isNeeded: true,
  variable: 'HUB_X',
  isByVariable: false,
}
const setup: ChannelSetup = {
  name: 'ntfy',
  enabled: true,
  setUpBy: null,
  problem: null,
  fields: [
    { ...field, name: 'url', kind: 'address', isSet: true, value: 'https://ntfy.example.org/farm' },
    { ...field, name: 'token', kind: 'secret', isSet: true, value: null },
    { ...field, name: 'chat', kind: 'text', isByVariable: true, isSet: true, value: null },
  ],
}

it('sends what a person changed of a channel, and what they saw of it', () => {
  const before = channelValues(setup)
  expect(channelChange(setup, before)).toEqual({ values: {}, seen: { values: {} } })
  const url = 'https://ntfy.example.org/orchard'
  expect(channelChange(setup, { ...before, enabled: false, values: { ...before.values, url } })).toEqual({
    enabled: false,
    values: { url },
    seen: { enabled: true, values: { url: 'https://ntfy.example.org/farm' } },
  })
})

it('keeps a secret that is left empty, sends a new one, and removes one that is marked', () => {
  const before = channelValues(setup)
  const typed = { ...before, values: { ...before.values, token: 'tk_new' } }
  expect(channelChange(setup, typed)).toEqual({ values: { token: 'tk_new' }, seen: { values: {} } })
  expect(channelChange(setup, { ...typed, removed: { token: true } }).values).toEqual({ token: null })
})
