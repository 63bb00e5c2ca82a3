import type { ConnectionError } from '../host.ts'

export type SocketErrorCode =
  | 'ECONNREFUSED'
  | 'ECONNRESET'
  | 'ETIMEDOUT'
  | 'EHOSTUNREACH'
  | 'EPIPE'
  | 'EADDRINUSE'
  | 'EADDRNOTAVAIL'
  | 'ERR_INVALID_IP_ADDRESS'
  | 'ERR_SOCKET_BAD_PORT'
  | 'ERR_STACK_CLOSED'

/** An error like those of `net`: callers compare `code`. */
export interface SocketError extends Error {
  code: SocketErrorCode
  syscall: string
  address?: string
  port?: number
}

export function socketError(
  code: SocketErrorCode,
  syscall: string,
  at?: { address: string; port?: number },
): SocketError {
  const place = at === undefined ? '' : ` ${at.address}${at.port === undefined ? '' : `:${at.port}`}`
  return Object.assign(new Error(`${syscall} ${code}${place}`), { code, syscall, ...at })
}

const CODES: Record<Exclude<ConnectionError, 'aborted'>, SocketErrorCode> = {
  refused: 'ECONNREFUSED',
  reset: 'ECONNRESET',
  'timed-out': 'ETIMEDOUT',
  unreachable: 'EHOSTUNREACH',
}

export const errorCodeOf = (error: Exclude<ConnectionError, 'aborted'>): SocketErrorCode => CODES[error]
