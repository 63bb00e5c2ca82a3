/**
 * How often a person may make calls that write: each can leave an entry in the audit, which nobody can delete. Counted
 * for the person and not for an address or a session, so that more of those give no more.
 */
import type { Call } from '@hedgerow/contract'
import { HubError } from '../kernel/hub-error.ts'
import { createBuckets, type Rate } from './limiter.ts'
import type { Caller } from './sessions.ts'

/** Enough for a person with a whole site to approve, and for a script that goes on at five a second. */
const RATE: Rate = { burst: 200, perSecond: 5 }
const PEOPLE_MAX = 10_000

/** They end or prolong one session, and whoever is slowed down must still be able to leave. */
const NEVER_REFUSED: ReadonlySet<string> = new Set(['/v1/auth/logout', '/v1/auth/renew'])

/** Whether a person's call counts: all that are no GET, and a GET that the audit records. */
export function countsAsWrite({ method, path, recorded }: Call): boolean {
  return (method !== 'GET' || recorded === true) && !NEVER_REFUSED.has(path)
}

/** Gives what takes a person's turn. It throws `too_many_requests` with when to come again. */
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
