import * as contract from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cheapHashing, startTestHub, type TestHub } from '#testing/hub.ts'
import { createTestApi, nextAddress } from '#testing/api.ts'

/** Counts hash operations and how many run at once. Hashing waits while `held`, so requests of a test come together. */
const argon = { calls: 0, running: 0, mostAtOnce: 0, held: undefined as Promise<void> | undefined }
const counted =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    argon.calls++
    argon.mostAtOnce = Math.max(argon.mostAtOnce, ++argon.running)
    await argon.held
    return work(...args).finally(() => argon.running--)
  }
const countedHashing = { hash: counted(cheapHashing.hash), verify: counted(cheapHashing.verify) }

/** The defaults of createPasswords. */
const [WAITING_MAX, HASHING_MAX] = [200, 2]
const PASSWORD = 'gravel-lantern-42'

describe('attacks on accounts', () => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  beforeAll(async () => {
    hub = await startTestHub('sqlite', {}, countedHashing)
    // On a slow machine the waits between guesses must not end early.
    hub.clock.freeze()
    await hub.app.ready()
    api = createTestApi(hub)
    await hub.addUser('owner', 'admin', PASSWORD)
    await signIn('owner', PASSWORD)
  })
  beforeEach(() => Object.assign(argon, { calls: 0, mostAtOnce: 0 }))
  afterAll(() => hub.stop())

  const signIn = (username: string, password: string, from = nextAddress()) =>
    api(contract.login, { body: { username, password }, from })
  const tally = (answers: { status: number }[]) => {
    const counts: Record<number, number> = {}
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }

  /** Holds hashing until `turnedAway` sign-ins were refused: then the queue is full. */
  async function atOnce<T extends { status: number }>(crowd: () => Promise<T>[], turnedAway: number): Promise<T[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    argon.held = promise
    let refused = 0
    const answers = crowd()
    for (const answer of answers)
      void answer.then(({ status }) => {
        if (status === 429 && ++refused === turnedAway) resolve()
      })
    const all = await Promise.all(answers)
    argon.held = undefined
    return all
  }

  test('guesses at one account from forty addresses: each is slowed down, the owner elsewhere signs in', async () => {
    const addresses = Array.from({ length: 40 }, nextAddress)
    const answers: { status: number }[] = []
    for (let round = 0; round < 8; round++)
      for (const from of addresses) answers.push(await signIn('owner', `guess ${round}`, from))
    expect(tally(answers)).toEqual({ 401: 40 * 6, 429: 40 * 2 })
    expect((await signIn('owner', PASSWORD)).status).toBe(200)
  })

  test('guesses at forty accounts from one address: the address is slowed down, owners elsewhere sign in', async () => {
    const from = nextAddress()
    const answers: { status: number }[] = []
    for (let i = 0; i < 40; i++) answers.push(await signIn(`target-${i}`, 'guess', from))
    expect(tally(answers)).toEqual({ 401: 31, 429: 9 })
    expect((await signIn('owner', PASSWORD, from)).status).toBe(429)
    expect((await signIn('owner', PASSWORD)).status).toBe(200)
  })

  test('strangers from 260 networks at once: the owner signs in from a known network', async () => {
    // The crowd has the same provider, so only the earlier sign-in distinguishes the owner from it.
    const home = '2001:db9:ffff::1'
    expect((await signIn('owner', PASSWORD, home)).status).toBe(200)
    const stranger = (i: number) => signIn(`any-${i}`, 'guess', `2001:db9:${i.toString(16)}::1`)
    const answers = await atOnce(
      () => [
        ...Array.from({ length: 260 }, (_, i) => stranger(i)),
        signIn('owner', PASSWORD, home),
        // As many strangers arrive after the owner; each new network drops the longest-waiting entry.
        ...Array.from({ length: 700 }, (_, i) => stranger(1_000 + i)),
      ],
      960 - WAITING_MAX - HASHING_MAX,
    )
    expect(answers[260]?.status).toBe(200)
    expect(tally(answers)[429]).toBeGreaterThan(200)
  })

  test('a crowd in the queue is dropped for a newcomer', async () => {
    const answers = await atOnce(
      () => [
        ...Array.from({ length: 400 }, (_, i) => signIn(`any-${i}`, 'guess', `2001:db8:1:${i.toString(16)}::1`)),
        signIn('owner', PASSWORD, '2001:dbb::1'),
      ],
      401 - WAITING_MAX - HASHING_MAX,
    )
    expect(answers.at(-1)?.status).toBe(200)
  })

  test('one IPv6 customer is slowed down over all its networks, and the account’s owner is not', async () => {
    const of = (i: number) => `2001:dba:77:${i.toString(16)}::1`
    expect((await signIn('owner', PASSWORD, of(500))).status).toBe(200)
    const answers: { status: number }[] = []
    for (let i = 0; i < 200; i++) answers.push(await signIn(`spread-${i}`, 'guess', of(i * 256 + 1)))
    expect(tally(answers)).toEqual({ 401: 61, 429: 139 })
    expect((await signIn('owner', PASSWORD, of(501))).status).toBe(429)
    expect((await signIn('owner', PASSWORD, of(500))).status).toBe(200)
  })

  test('an unknown and a known name each cost exactly one argon2', async () => {
    await signIn('owner', 'wrong')
    const known = argon.calls
    await signIn('never-heard-of', 'wrong')
    expect([known, argon.calls - known]).toEqual([1, 1])
  })

  test('a thousand sign-ins at once: two hash at a time, the queue is limited, all are answered', async () => {
    const answers = await atOnce(
      () => Array.from({ length: 1_000 }, (_, i) => signIn(`crowd-${i}`, 'guess')),
      1_000 - WAITING_MAX - HASHING_MAX,
    )
    const { 401: refused = 0, 429: turnedAway = 0 } = tally(answers)
    expect(refused + turnedAway).toBe(1_000)
    expect(refused).toBeGreaterThanOrEqual(200)
    expect(argon.calls).toBe(refused)
    expect(argon.mostAtOnce).toBeLessThanOrEqual(2)
    expect((await signIn('owner', PASSWORD)).status).toBe(200)
  })

  test('long passwords are refused without hashing, in every call that takes one', async () => {
    const { body } = await signIn('owner', PASSWORD)
    const token = (body as { accessToken: string }).accessToken
    const person = { username: 'long', email: 'long@example.org', firstName: 'L', lastName: 'O' }
    argon.calls = 0
    for (const [length, status] of [
      [1_000_000, 413],
      [60_000, 400],
      [1_025, 400],
    ] as const) {
      const password = 'x'.repeat(length)
      const answers = [
        await signIn('owner', password),
        await api(contract.registerAccount, { body: { ...person, password, inviteCode: 'x' } }),
        await api(contract.createUser, { token, body: { ...person, password } }),
        await api(contract.changePassword, { token, body: { currentPassword: password, newPassword: PASSWORD } }),
        await api(contract.changePassword, { token, body: { currentPassword: PASSWORD, newPassword: password } }),
        await api(contract.disableTwoFactor, { token, body: { password, code: '123456' } }),
      ]
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status))
    }
    expect(argon.calls).toBe(0)
  })
})
