import { username } from '@hedgerow/contract'
import { expect, test } from 'vitest'
import { usernameKey } from './look-alikes.ts'

test.each([
  ['walker', 'WALKER'],
  ['walker', 'ｗａｌｋｅｒ'],
  ['walker', ' walker '],
  ['paul', 'pau1'],
  ['paul', 'paui'],
  ['paul', 'PAUI'],
  ['root', 'r00t'],
  ['cocoa', 'сосоа'],
  ['XENIA', 'хеnіа'],
  ['NINA', 'ΝΙΝΑ'],
  ['HECTOP', 'ΗΕСΤΟΡ'],
  ['barney', 'bamey'],
  ['vvalter', 'walter'],
  ['istanbul', 'İstanbul'],
  ['admin', 'ad\u00admin'],
])('%s and %s are the same name', (a, b) => {
  expect(usernameKey(a)).toBe(usernameKey(b))
})

test.each([
  ['anna', 'anne'],
  ['jose', 'josé'],
  ['дима', 'дина'],
  ['user-1', 'user-2'],
  ['小明', '小名'],
])('%s and %s are different names', (a, b) => {
  expect(usernameKey(a)).not.toBe(usernameKey(b))
})

test('a name uses only one of the alphabets that look alike, and only visible characters', () => {
  for (const fine of ['Walker', 'дима', 'νίκος', '小明2', 'a.b_c-d@e+f', 'jose\u0301', '  trimmed  '])
    expect(username.safeParse(fine).success).toBe(true)
  for (const bad of [
    'аdmin',
    'αdmin',
    'дiма',
    'ad\u200dmin',
    'a b c',
    'adm\u3164in',
    '<b>x</b>',
    'x\u202ey',
    'ab',
    'a'.repeat(65),
  ])
    expect(username.safeParse(bad).success).toBe(false)
})
