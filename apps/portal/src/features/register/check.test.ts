import { describe, expect, test } from 'vitest'
import { check, type Values } from './check.ts'

const GOOD: Values = {
  inviteCode: 'ABCD-EFGH-JKMN-PQRS',
  firstName: 'Rosa',
  lastName: 'Lind',
  username: 'rosa',
  email: 'rosa@example.org',
  password: 'four foxes in fog',
  confirmPassword: 'four foxes in fog',
}
const REQUIRED = { inviteCodeRequired: true }
const OPEN = { inviteCodeRequired: false }

describe('the registration form', () => {
  test('accepts a complete one', () => {
    expect(check(GOOD, REQUIRED)).toEqual({})
  })

  test.each([
    [{ confirmPassword: 'four foxes in fogs' }, { confirmPassword: 'Passwords do not match' }],
    [{ password: 'shorty7', confirmPassword: 'shorty7' }, { password: 'Password must be at least 8 characters long' }],
    [{ username: 'ro' }, { username: 'Username must be at least 3 characters long' }],
    [{ inviteCode: '   ' }, { inviteCode: 'Invite code is required' }],
    [{ firstName: ' ' }, { firstName: 'Enter your first name' }],
    [{ lastName: '' }, { lastName: 'Enter your last name' }],
    [{ username: '' }, { username: 'Enter a username' }],
    [{ email: '' }, { email: 'Enter your email address' }],
    [{ email: 'rosa' }, { email: 'Enter an email address such as name@example.org' }],
  ] satisfies [Partial<Values>, Partial<Values>][])('says what is wrong with %o', (change, errors) => {
    expect(check({ ...GOOD, ...change }, REQUIRED)).toEqual(errors)
  })

  test('requires an invite code only if the hub does', () => {
    expect(check({ ...GOOD, inviteCode: '' }, OPEN)).toEqual({})
  })

  test('names every field of an empty form at once', () => {
    const empty = { ...GOOD, firstName: '', lastName: '', username: '', email: '', password: '', confirmPassword: '' }
    expect(Object.keys(check(empty, OPEN)).toSorted()).toEqual([
      'email',
      'firstName',
      'lastName',
      'password',
      'username',
    ])
  })
})
