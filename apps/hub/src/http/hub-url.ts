import type { IncomingHttpHeaders } from 'node:http'
import { HubError } from '../kernel/hub-error.ts'

/** A name or address and perhaps a port, without characters that a shell interprets. */
const AUTHORITY = /^([a-z0-9_]([a-z0-9._-]{0,252}[a-z0-9_])?|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i

/**
 * The address at which devices reach this hub: the configured one, or else the one in the person's request. Throws
 * `invalid_request` for an invalid `Host`, since the address becomes part of a command to paste.
 */
export function hubUrlOf(publicUrl: string | undefined, headers: IncomingHttpHeaders): string {
  if (publicUrl !== undefined) return publicUrl
  const host = headers.host ?? ''
  if (!AUTHORITY.test(host) || !URL.canParse(`http://${host}`))
    throw new HubError('invalid_request', { message: 'The Host header names no host that a gateway could reach.' })
  const secure = `https://${host}`
  return headers.origin?.toLowerCase() === secure.toLowerCase() ? secure : `http://${host}`
}
