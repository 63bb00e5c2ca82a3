import type { Role } from '@hedgerow/contract'
import { expect, it } from 'vitest'
import { scopeOf } from '../access/scope.ts'
import { createSharedAnswers } from './shared-answers.ts'

function asking(userId: string, role: Role, query?: unknown) {
  const headers: Record<string, string> = {}
  const reply = { header: (name: string, value: string) => (headers[name] = value) }
  return { scope: scopeOf({ userId, role }), query, reply, headers }
}

it('is read once for all pages of a scope that ask before the read begins, with its headers for each', async () => {
  const share = createSharedAnswers()
  let reads = 0
  const ask = async (asked: ReturnType<typeof asking>, name = 'list') => ({
    answer: await share(name, asked, async (reply) => {
      reads += 1
      reply.header('next', `page ${reads}`)
      return reads
    }),
    headers: asked.headers,
  })
  const same = await Promise.all([
    ask(asking('ann', 'manager', { label: 'boar' })),
    ask(asking('ben', 'admin', { label: 'boar' })),
  ])
  expect(same).toEqual([1, 1].map((answer) => ({ answer, headers: { next: 'page 1' } })))

  const others = await Promise.all([
    ask(asking('ann', 'manager', { label: 'boar' })),
    ask(asking('ann', 'manager', { label: 'fox' })),
    ask(asking('ann', 'manager', { label: 'boar' }), 'counts'),
    ask(asking('ben', 'user', { label: 'boar' })),
    ask(asking('ann', 'user', { label: 'boar' })),
  ])
  expect(others.map(({ answer }) => answer)).toEqual([2, 3, 4, 5, 6])
})

it('is read anew for those who ask when the read has begun', async () => {
  const share = createSharedAnswers()
  const begun = Promise.withResolvers<void>()
  const ends = Promise.withResolvers<void>()
  const first = share('list', asking('ann', 'manager'), async () => {
    begun.resolve()
    await ends.promise
    return 'before the change'
  })
  await begun.promise
  const second = share('list', asking('ann', 'manager'), async () => 'after the change')
  expect(await second).toBe('after the change')
  ends.resolve()
  expect(await first).toBe('before the change')
})

it('fails for all who share it, and not for those who ask later', async () => {
  const share = createSharedAnswers()
  const asked = asking('ann', 'manager')
  const failing = () => Promise.reject(new Error('no database'))
  const results = await Promise.allSettled([share('list', asked, failing), share('list', asked, failing)])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await share('list', asked, async () => 'well')).toBe('well')
})
