import type { HubUser } from '@hedgerow/contract'
import { describe, expect, test } from 'vitest'
import { findUsers, isLastAdmin, nameOf } from './people.ts'

const user = (change: Partial<HubUser>): HubUser => ({
  id: change.username ?? 'rosa',
  username: 'rosa',
  email: 'rosa@example.org',
  firstName: '',
  lastName: '',
  role: 'user',
  active: true,
  twoFactorEnabled: false,
  lastLogin: null,
  createdAt: '2026-11-01T08:00:00.000Z',
  ...change,
})

test.each([
  [{ firstName: 'Rosa', lastName: 'Lind' }, 'Rosa Lind'],
  [{ firstName: '', lastName: 'Lind' }, 'Lind'],
  [{ firstName: ' ', lastName: '' }, 'rosa'],
])('%o is called %s', (names, called) => {
  expect(nameOf(user(names))).toBe(called)
})

describe('the search', () => {
  const users = [
    user({ username: 'rosa', firstName: 'Rosa', lastName: 'Lind', email: 'rl@farm.example' }),
    user({ username: 'otto', firstName: 'Otto', email: 'otto@example.org', role: 'manager' }),
  ]
  test.each([
    ['', ['rosa', 'otto']],
    ['  ', ['rosa', 'otto']],
    ['LIND', ['rosa']],
    ['otto example', ['otto']],
    ['manager', ['otto']],
    ['farm', ['rosa']],
    ['rosa otto', []],
  ])('for %j finds %j', (text, found) => {
    expect(findUsers(users, text).map(({ username }) => username)).toEqual(found)
  })
})

describe('the last active admin', () => {
  const root = user({ username: 'root', role: 'admin' })
  const retired = user({ username: 'retired', role: 'admin', active: false })
  const second = user({ username: 'second', role: 'admin' })

  test('is the only one that is active', () => {
    expect(isLastAdmin([root, retired, user({})], root)).toBe(true)
  })
  test('is nobody if there are two', () => {
    expect([root, second].map((one) => isLastAdmin([root, second], one))).toEqual([false, false])
  })
  test('is neither an inactive admin nor somebody else', () => {
    expect([retired, user({})].map((one) => isLastAdmin([root, retired, user({})], one))).toEqual([false, false])
  })
})
