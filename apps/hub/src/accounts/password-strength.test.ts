import { describe, expect, test } from 'vitest'
import { findWeakness } from './password-strength.ts'

const OWN = 'This password holds your own name or email address. Choose another.'
const COMMON = 'This password is one of those that are tried first. Choose another.'
const PATTERN = 'This password is a simple pattern. Choose another.'

describe('a password', () => {
  test.each([
    ['password', COMMON],
    ['Password1!', COMMON],
    ['P@ssw0rd2024!', COMMON],
    ['@dm1nistrator', COMMON],
    ['123password', COMMON],
    ['letmein!!', COMMON],
    ['Sommer2025', COMMON],
    ['dragondragon', COMMON],
    ['Dragon-dragon-dragon-dragon1', COMMON],
    ['--!!dragon!!--', COMMON],
    ['iloveyou7', COMMON],
    ['blue-dragon', COMMON],
    ['12345678', PATTERN],
    ['qwertzuiop', PATTERN],
    ['qwertyuiop', PATTERN],
    ['aaaaaaaaaa', PATTERN],
    ['abababab', PATTERN],
    ['5tgb6yhn', PATTERN],
    ['abcd1234x', PATTERN],
  ])('%s is refused', (password, reason) => {
    expect(findWeakness(password, [])).toBe(reason)
  })

  test.each([
    'gravel-lantern-42',
    'x9$Kp2vQ',
    'correct horse battery staple',
    'Zwölf Äpfel am Baum',
    '果园里的狐狸在跳舞',
    'a long password',
  ])('%s is fine', (password) => {
    expect(findWeakness(password, ['walker', 'walker@example.org', 'Ada', 'Byron'])).toBeUndefined()
  })

  test.each(['xXwalkerXx-7391', 'W4LK3R-of-hills', 'my-mail-rosa.m@x', 'byron-in-greece', 'hills of ádá 1815'])(
    '%s holds what its owner is called',
    (password) => {
      expect(findWeakness(password, ['Walker', 'rosa.m@example.org', 'Ada', 'Byron'])).toBe(OWN)
    },
  )

  test('names of one or two letters, and missing ones, stand in nobody’s way', () => {
    expect(findWeakness('gravel-lantern-42', ['', 'la', 'E'])).toBeUndefined()
  })
})
