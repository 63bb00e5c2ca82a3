import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { describe, expect, test, vi } from 'vitest'
import { createGuessEstimates } from './guess-estimates.ts'
import { findWeakness as find } from './password-strength.ts'

const OWN = 'This password holds your own name or email address. Choose another.'
const COMMON = 'Too easy to guess: this password is one of those that are tried first. Choose another.'
const PATTERN = 'Too easy to guess: this password is a simple pattern. Choose another.'

const estimate = createGuessEstimates()
const findWeakness = (password: string, names: readonly string[]) => find(password, names, estimate)

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
    ['12345678', COMMON],
    ['qwertyuiop', COMMON],
    ['5tgb6yhn', COMMON],
    ['abcd1234x', COMMON],
    ['Sommer2025!', COMMON],
    ['trustno1!!', COMMON],
    ['4dm1n1str4t0r', COMMON],
    ['drowssap1', COMMON],
    ['passwordpasswordpasswordpassword'.repeat(30), COMMON],
    ['hedgerow-2026', COMMON],
    ['qwertzuiop', PATTERN],
    ['lkjhgfdsaq', COMMON],
    ['31.12.1999', PATTERN],
    ['aaaaaaaaaa', PATTERN],
    ['abababab', PATTERN],
  ])('%s is refused', async (password, reason) => {
    expect(await findWeakness(password, [])).toBe(reason)
  })

  test.each([
    'gravel-lantern-42',
    'x9$Kp2vQ',
    'correct horse battery staple',
    'Zwölf Äpfel am Baum',
    '果园里的狐狸在跳舞',
    'a long password',
    'jK8#mz!p'.repeat(2) + 'gravel',
    '(4{[<8369&#!1/|0$5+7%2'.repeat(46),
  ])('%s is accepted', async (password) => {
    expect(await findWeakness(password, ['walker', 'walker@example.org', 'Ada', 'Byron'])).toBeUndefined()
  })

  test.each(['xXwalkerXx-7391', 'W4LK3R-of-hills', 'my-mail-rosa.m@x', 'byron-in-greece', 'hills of ádá 1815'])(
    '%s contains its owner’s name',
    async (password) => {
      expect(await findWeakness(password, ['Walker', 'rosa.m@example.org', 'Ada', 'Byron'])).toBe(OWN)
    },
  )

  test('names of one or two letters, and missing ones, are ignored', async () => {
    expect(await findWeakness('gravel-lantern-42', ['', 'la', 'E'])).toBeUndefined()
  })
})

test('the thread ends without work, and another starts with the next password', async () => {
  const started = vi.fn<(worker: Worker) => void>()
  process.on('worker', started)
  const estimateBriefly = createGuessEstimates({ idleMs: 1 })
  const weak = { password: 'password', names: [] }
  expect(await estimateBriefly(weak)).toMatchObject({ holds: 'words' })
  await once(started.mock.calls[0]![0], 'exit')
  expect(await Promise.all([weak, { password: 'x9$Kp2vQ', names: [] }].map(estimateBriefly))).toMatchObject([
    { holds: 'words' },
    { holds: undefined },
  ])
  expect(started).toHaveBeenCalledTimes(2)
  process.off('worker', started)
})
