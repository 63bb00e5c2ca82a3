import { expect, test } from 'vitest'
import { checkPasswords } from './password-check.ts'

const GOOD = { currentPassword: 'old one', newPassword: 'four foxes in fog', confirmPassword: 'four foxes in fog' }

test.each([
  [GOOD, {}],
  [{ ...GOOD, currentPassword: '' }, { currentPassword: 'Enter your password' }],
  [{ ...GOOD, confirmPassword: 'four foxes' }, { confirmPassword: 'Passwords do not match' }],
  [
    { ...GOOD, newPassword: 'short', confirmPassword: 'short' },
    { newPassword: 'Password must be at least 8 characters long' },
  ],
])('%o is answered with %o', (values, errors) => {
  expect(checkPasswords(values)).toEqual(errors)
})
