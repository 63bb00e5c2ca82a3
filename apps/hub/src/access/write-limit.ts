/**
 * Limits a person's writing calls: each can add an audit entry, and nobody can delete those. It counts for the person,
 * so that more addresses or sessions do not help.
 */
import type { Call } from '@hedgerow/contract'
import { createBuckets, type Rate } from '@hedgerow/http'
import { HubError } from '../kernel/hub-error.ts'
import type { Caller } from './sessions.ts'

/** Enough for a person who approves a whole site, and for a script at five calls a second. */
const RATE: Rate = { burst: 200, perSecond: 5 }
const PEOPLE_MAX = 10_000

/** These calls end or extend one session; a limited caller must still be able to sign out. */
const NEVER_REFUSED: ReadonlySet<string> = new Set(['/v1/auth/logout', '/v1/auth/renew'])

/** Whether a person's call counts: all calls except GET, and a GET that the audit records. */
export function countsAsWrite({ method, path, recorded }: Call): boolean {
  return (method !== 'GET' || recorded === true) && !NEVER_REFUSED.has(path)
}

/** Returns a function that counts one call of a person. It throws `too_many_requests` with the time to wait. */
export function createWriteLimit(options: {
  clock: () => number
  onRefused: (address: string) => void
}): (caller: Pick<Caller, 'userId'>, sourceIp: string) => void {
  const { clock, onRefused } = options
  const people = createBuckets(RATE, PEOPLE_MAX)
  return ({ userId }, sourceIp) => {
    const key = [{ key: userId, share: 1 }]
    const retryAfterMs = people.waitMs(key, clock())
    if (retryAfterMs > 0) {
      onRefused(sourceIp)
      throw new HubError('too_many_requests', { retryAfterMs })
    }
    people.add(key, -1)
  }
}
