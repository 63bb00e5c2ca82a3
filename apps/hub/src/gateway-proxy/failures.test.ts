import { UnusableAnswer } from '@hedgerow/http'
import { expect, it } from 'vitest'
import { failureOf, failurePage, GatewayTimeout } from './failures.ts'

const withCode = (code: string) => Object.assign(new Error(code), { code })

it.each([
  [withCode('ECONNREFUSED'), true, 'refused'],
  [withCode('ECONNRESET'), true, 'closed'],
  [withCode('EPIPE'), false, 'closed'],
  [new Error('the gateway gave no answer'), true, 'closed'],
  [withCode('ETIMEDOUT'), false, 'silent'],
  [withCode('ETIMEDOUT'), true, 'offline'],
  [withCode('ABORT_ERR'), true, 'offline'],
  [withCode('EHOSTUNREACH'), false, 'silent'],
  [new UnusableAnswer('its head is too long'), true, 'not HTTP'],
  [new GatewayTimeout(), true, 'slow'],
  [new GatewayTimeout({ isBusy: true }), false, 'busy'],
])('%s of a gateway, offline: %s, is called %s', (error, isOffline, expected) => {
  const failure = failureOf(error, isOffline)
  expect(failure).toBe(expected)
  const gateway = { id: 'abcdefgh2345', name: 'Barn' }
  const port = 'port 51820 of hub.example.org'
  const page = failurePage(failure, { gateway, hubUrl: 'http://localhost:8080', error, seconds: 60, port })
  expect(page.title).toContain('Barn')
  expect(page.advice.length).toBeGreaterThan(0)
  const isSilence = expected === 'silent' || expected === 'offline'
  expect(page.advice.join(' ').includes(`UDP from the gateway reach ${port}`)).toBe(isSilence)
})
