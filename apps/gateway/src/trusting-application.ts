import type { Duplex } from 'node:stream'
import { role, type Role } from '@hedgerow/contract'
import { z } from 'zod'

/** An application that learns from the gateway who asks, and trusts it by a shared secret. */
export type TrustingApplication = {
  /** In lower case: the headers that only this gateway may set. */
  ownHeaders: readonly string[]
  /** The headers for a person that the hub names; `role` is one of the hub's. */
  headersFor(visitor: { user: string; role: string }): Record<string, string>
  /** Opens the connection to an application whose certificate no known CA signed. */
  connect?: (signal: AbortSignal) => Promise<Duplex>
}

/** Headers that carry the request itself, or the hub's own. */
const TAKEN =
  /^(?:host|origin|cookie|authorization|connection|upgrade|te|trailer|expect|content-.*|transfer-encoding|sec-.*|x-hub-.*)$/

/** A header that tells an application who asks, in lower case. */
export const headerName = z
  .string()
  .max(100)
  .regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'A header has letters, digits and hyphens.')
  .toLowerCase()
  .refine((name) => !TAKEN.test(name), 'This header has another meaning.')

/** An application's names for the roles of the hub. */
export function roleNames(names: Record<Role, string>) {
  const name = z.string().min(1).max(100)
  return z
    .strictObject({
      admin: name.default(names.admin),
      manager: name.default(names.manager),
      user: name.default(names.user),
    })
    .default(names)
}

/** A role that this agent does not know, or none, counts as the least one. */
export function hubRole(text: unknown): Role {
  return role.safeParse(text).data ?? 'user'
}

/** Only the hub knows who asks: such headers of any other sender are dropped, also those through the tunnel. */
export function replaceIdentityHeaders(
  headers: Record<string, string | string[]>,
  { ownHeaders, headersFor }: TrustingApplication,
  isTunnel: boolean,
): void {
  for (const name of Object.keys(headers))
    if (ownHeaders.includes(name.toLowerCase().replaceAll('_', '-'))) delete headers[name]
  const [user, role] = [headers['x-hub-user'], headers['x-hub-role']]
  if (isTunnel && typeof user === 'string' && typeof role === 'string')
    Object.assign(headers, headersFor({ user, role }))
}

type Created = (error: Error | null, socket: Duplex) => void

/** A `createConnection` option for Node with a callback; it returns nothing at once. */
export function connecting(connect: NonNullable<TrustingApplication['connect']>, signal: AbortSignal) {
  return (_options: unknown, created: Created): undefined => {
    connect(signal).then(
      (socket) => (signal.aborted ? socket.destroy() : created(null, socket)),
      (error: Error) => created(error, undefined as never),
    )
    return undefined
  }
}
