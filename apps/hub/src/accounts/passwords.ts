import { hash, verify, type Algorithm } from '@node-rs/argon2'
import { HubError } from '../kernel/hub-error.ts'

/** argon2id as OWASP's Password Storage Cheat Sheet has it: 19 MiB, 2 passes, 1 lane. */
const PARAMETERS = {
  algorithm: 2 satisfies Algorithm.Argon2id as Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
}

export type Passwords = {
  hash(password: string): Promise<string>
  /** Takes as long for `undefined` (no such user) as for a user's hash, and is then false. */
  verify(password: string, passwordHash: string | undefined): Promise<boolean>
}

/**
 * Hashing costs 19 MiB and some 20 ms of a core each, so no more than `concurrency` run at once, no more than
 * `queueLimit` wait, and the next one is refused with `too_many_requests`.
 */
export function createPasswords({ concurrency = 2, queueLimit = 200 } = {}): Passwords {
  const waiting: (() => void)[] = []
  let running = 0
  let absentHash: Promise<string> | undefined

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running >= concurrency) {
      if (waiting.length >= queueLimit) throw new HubError('too_many_requests')
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }

  return {
    hash: (password) => inTurn(() => hash(password.normalize('NFKC'), PARAMETERS)),
    async verify(password, passwordHash) {
      absentHash ??= hash('', PARAMETERS)
      const expected = passwordHash ?? (await absentHash)
      const matches = await inTurn(() => verify(expected, password.normalize('NFKC')))
      return matches && passwordHash !== undefined
    },
  }
}
