import { hubSettings } from '@hedgerow/contract'
import { describe, expect, test } from 'vitest'
import { checkValues, firstTabAtFault, valuesOf, type Values } from './values.ts'

const SETTINGS = hubSettings.parse({})
const VALUES = valuesOf(SETTINGS)

describe('typed values', () => {
  test('give the same settings back', () => {
    expect(checkValues(VALUES)).toEqual({ settings: SETTINGS })
  })

  test('may have blanks around numbers', () => {
    expect(checkValues({ ...VALUES, maxGateways: ' 250 ' })).toMatchObject({ settings: { maxGateways: 250 } })
  })

  test.each([
    [{ maxGateways: '' }, { maxGateways: 'Enter a whole number from 1 to 100,000' }],
    [{ maxGateways: '0' }, { maxGateways: 'Enter a whole number from 1 to 100,000' }],
    [{ maxGateways: '1e3' }, { maxGateways: 'Enter a whole number from 1 to 100,000' }],
    [{ sessionTimeout: '59' }, { sessionTimeout: 'Enter whole seconds from 60 (a minute) to 604,800 (a week)' }],
    [{ logRetentionDays: '2.5' }, { logRetentionDays: 'Enter whole days from 1 to 3,650' }],
  ] satisfies [Partial<Values>, Partial<Values>][])('%o is refused beside its field', (change, errors) => {
    expect(checkValues({ ...VALUES, ...change })).toEqual({ errors })
  })
})

test('the first tab with an error is shown', () => {
  expect(firstTabAtFault({})).toBeUndefined()
  expect(firstTabAtFault({ vpnNetwork: 'wrong' })).toBe('network')
  expect(firstTabAtFault({ vpnNetwork: 'wrong', sessionTimeout: 'wrong' })).toBe('security')
})
