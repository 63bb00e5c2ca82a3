/** What people do at the device's interface, for the ledger and through it for the hub's audit. */
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../calls/errors.ts'
import { plainAddress } from '../../kernel/loopback.ts'
import type { Deterrents } from '../../deterrents/deterrents.ts'
import { askerOf, PASSWORD_VISITOR, type Visitor } from './visitor.ts'

/** Guesses must not push the lines of firings out of the ledger. */
const QUIET_MS = 600_000

type Person = { visitor: Visitor; request: IncomingMessage }

export function createNotes(note: Deterrents['note'], clock: () => number = Date.now) {
  let refused = 0
  let quietUntil = 0
  return {
    saved: ({ visitor, request }: Person, parts: readonly string[]): Promise<void> =>
      note({
        at: clock(),
        kind: 'file-saved',
        by: askerOf(visitor),
        from: addressOf(visitor, request),
        ...(parts.length > 0 && { message: parts.join(', ') }),
      }),
    /** Waits for a check of the password. A wrong one is written down, at once or with the next in ten minutes. */
    async checked<T>(
      { visitor = PASSWORD_VISITOR, request }: Partial<Person> & Pick<Person, 'request'>,
      check: Promise<T>,
    ) {
      try {
        return await check
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'wrong_password')) throw error
        const at = clock()
        refused += 1
        if (at < quietUntil) throw error
        const times = refused
        refused = 0
        quietUntil = at + QUIET_MS
        // Who gave it is known only of people of the hub.
        await note({
          at,
          kind: 'password-refused',
          ...(visitor.via === 'hub' && { by: askerOf(visitor) }),
          from: addressOf(visitor, request),
          ...(times > 1 && { times }),
        })
        throw error
      }
    },
  }
}

/** The hub names the address of a person who comes through it. */
function addressOf({ via }: Visitor, { headers, socket }: IncomingMessage): string {
  const named = via === 'hub' ? headers['x-forwarded-for'] : undefined
  if (typeof named === 'string') return plainAddress(named.split(',', 1)[0]!.trim())
  return socket.remoteAddress === undefined ? 'unknown' : plainAddress(socket.remoteAddress)
}
