import { expect, it } from 'vitest'
import { tokenIn } from './scan.ts'

it.each([
  ['DT-0123456789AB', 'DT-0123456789AB'],
  ['http://hub.local/gateways?token=DT-0123456789AB', 'DT-0123456789AB'],
  ['https://hub.example/gateways?x=1&token=dt-0123456789ab#label', 'DT-0123456789AB'],
])('reads the token of a label that says %s', (text, token) => {
  expect(tokenIn(text)).toBe(token)
})

it.each(['', 'https://example.net/', 'DT-012345', 'DT-0123456789ABC', 'WIFI:S:barn;;'])('finds none in %j', (text) => {
  expect(tokenIn(text)).toBeUndefined()
})
