import { hash, verify, type Algorithm } from '@node-rs/argon2'
import { crowdsOf, whoGivesWay, type Network } from '../access/networks.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createGuessEstimates } from './guess-estimates.ts'
import { findWeakness } from './password-strength.ts'

export type Hashing = {
  hash(password: string): Promise<string>
  verify(passwordHash: string, password: string): Promise<boolean>
}

/**
 * argon2id; by default with the parameters of OWASP's Password Storage Cheat Sheet: 19 MiB (`memoryCost` is in KiB),
 * 2 passes, 1 lane. Verifying takes the parameters from the hash.
 */
export const argon2id = ({ memoryCost = 19_456, timeCost = 2 } = {}): Hashing => {
  const algorithm = 2 satisfies Algorithm.Argon2id as Algorithm
  return { hash: (password) => hash(password, { algorithm, memoryCost, timeCost, parallelism: 1 }), verify }
}

const RETRY_AFTER_MS = 2_000

/** The dictionaries are in memory once, however many hubs a process has. */
const estimate = createGuessEstimates()

export type Passwords = {
  /** `strangerIp`: the address of an unknown caller, who waits in the strangers' queue. */
  hash(password: string, strangerIp?: string): Promise<string>
  /**
   * The reason why the password is too easy to guess, as a sentence, or undefined. `names`: all names of the person.
   */
  findWeakness(password: string, names: readonly string[], strangerIp?: string): Promise<string | undefined>
  /** Takes as long for no such user and for `NO_PASSWORD` as for a user's hash; then returns false. */
  verify(password: string, passwordHash: string | undefined, strangerIp?: string): Promise<boolean>
}

/**
 * Hashing and estimating strength cost memory and much of a core, so at most `concurrency` run at once and at most
 * `queueLimit` wait. Known people wait in a queue of their own and are served first, so that strangers keep nobody out.
 * Among strangers, the crowd is refused with `too_many_requests` (`whoGivesWay`).
 */
export function createPasswords({ concurrency = 2, queueLimit = 200, hashing = argon2id() } = {}): Passwords {
  const knownQueue: (() => void)[] = []
  const strangers: { crowds: Network[]; go: () => void; refuse: (error: HubError) => void }[] = []
  let running = 0
  let absentHash: Promise<string> | undefined

  function wait(strangerIp: string | undefined): Promise<void> {
    const refused = new HubError('too_many_requests', { retryAfterMs: RETRY_AFTER_MS })
    return new Promise((go, refuse) => {
      if (strangerIp === undefined) {
        if (knownQueue.length >= queueLimit) refuse(refused)
        else knownQueue.push(go)
        return
      }
      strangers.push({ crowds: crowdsOf(strangerIp), go, refuse })
      if (strangers.length <= queueLimit) return
      const [gone] = strangers.splice(whoGivesWay(strangers.map(({ crowds }) => crowds)), 1)
      gone?.refuse(refused)
    })
  }

  async function inTurn<T>(work: () => Promise<T>, strangerIp: string | undefined): Promise<T> {
    if (running >= concurrency) await wait(strangerIp)
    else running++
    try {
      return await work()
    } finally {
      const next = knownQueue.shift() ?? strangers.shift()?.go
      if (next) next()
      else running--
    }
  }

  return {
    hash: (password, strangerIp) => inTurn(() => hashing.hash(password.normalize('NFKC')), strangerIp),
    findWeakness: (password, names, strangerIp) => inTurn(() => findWeakness(password, names, estimate), strangerIp),
    async verify(password, passwordHash, strangerIp) {
      absentHash ??= hashing.hash('')
      const expected = passwordHash || (await absentHash)
      const matches = await inTurn(() => hashing.verify(expected, password.normalize('NFKC')), strangerIp)
      return matches && Boolean(passwordHash)
    },
  }
}
