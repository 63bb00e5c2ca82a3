import type { IncomingMessage } from 'node:http'
import { hasRole } from '@hedgerow/contract'
import { Refusal } from '../../calls/errors.ts'
import type { Asker } from '../../deterrents/saved-state.ts'
import { hubRole } from '../../trusting-application.ts'

/** A person who uses the device's own interface. */
export type Visitor = {
  /** The name for the ledger and the screen. */
  name: string
  /** `hub`: a person that the hub names; `device`: somebody who knows the device's password. */
  via: 'hub' | 'device'
  /** Whether the visitor may fire, arm and configure; everybody may look, stop and disarm. */
  mayManage: boolean
  /** Through the hub: who, in which of the hub's sessions. */
  visit?: string
}

/** Somebody who knows the device's password. */
export const PASSWORD_VISITOR: Visitor = { name: 'device password', via: 'device', mayManage: true }

const NAME_MAX = 200

/**
 * The person that the hub names. Call it only for a request that came through the tunnel: elsewhere anybody can send
 * these headers.
 */
export function visitorFromHub({ headers }: IncomingMessage): Visitor | undefined {
  const [user, role, session] = [headers['x-hub-user'], headers['x-hub-role'], headers['x-hub-session']]
  if (typeof user !== 'string' || user === '') return undefined
  return {
    name: decoded(user).slice(0, NAME_MAX),
    via: 'hub',
    mayManage: hasRole(hubRole(role), 'manager'),
    // An older hub does not name its session: there a visit ends with the browser, or unused.
    visit: JSON.stringify([user, session]),
  }
}

export function askerOf({ name, via }: Visitor): Asker {
  return { kind: 'person', name, via }
}

/** The hub percent-encodes what a header cannot carry. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function signedIn(caller: Visitor | undefined): Visitor {
  if (!caller) throw new Refusal('not_signed_in')
  return caller
}
