import { HubError } from '../kernel/hub-error.ts'

/** SQLite's primary result codes (sqlite.org/rescode.html) for a storage that is unavailable now. */
const SQLITE_UNAVAILABLE = new Set([5 /* BUSY */, 8 /* READONLY */, 10 /* IOERR */, 13 /* FULL */, 14 /* CANTOPEN */])
/** Why a database refuses to write. */
export type WriteRefusal = 'full' | 'read-only' | 'failing'
const SQLITE_REFUSALS = new Map<number, WriteRefusal>([
  [8 /* READONLY */, 'read-only'],
  [10 /* IOERR */, 'failing'],
  [13 /* FULL */, 'full'],
])
/** disk_full, read_only_sql_transaction and io_error. A standby answers the second too. */
const POSTGRES_REFUSALS = new Map<unknown, WriteRefusal>([
  ['53100', 'full'],
  ['25006', 'read-only'],
  ['58030', 'failing'],
])
const SQLITE_UNIQUE = new Set([1555 /* CONSTRAINT_PRIMARYKEY */, 2067 /* CONSTRAINT_UNIQUE */])

/**
 * PostgreSQL's SQLSTATE classes: connection exceptions, read-only, insufficient resources, operator intervention,
 * system errors.
 */
const POSTGRES_UNAVAILABLE = /^(08|25006|53|57P|58)/
const CONNECTION_LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ENOENT',
])
/** pg's messages, without a code, for a connection that ended during a query or never opened. */
const CONNECTION_ENDED = /Connection terminated|timeout exceeded when trying to connect|not queryable/

/** Returns `storage_unavailable` when the storage caused the error, else the error itself. */
export function storageError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const unavailable =
    typeof errcode === 'number'
      ? SQLITE_UNAVAILABLE.has(errcode & 0xff)
      : typeof code === 'string'
        ? POSTGRES_UNAVAILABLE.test(code) || CONNECTION_LOST.has(code)
        : CONNECTION_ENDED.test(error.message)
  return unavailable ? new HubError('storage_unavailable', { cause: error }) : error
}

/** Undefined for an error that does not mean that the database cannot write. */
export function writeRefusal(error: unknown): WriteRefusal | undefined {
  const { code, errcode } = ((error instanceof HubError ? error.cause : error) ?? {}) as {
    code?: unknown
    errcode?: unknown
  }
  return typeof errcode === 'number' ? SQLITE_REFUSALS.get(errcode & 0xff) : POSTGRES_REFUSALS.get(code)
}

/** Whether a statement failed because a row with the same unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  return typeof errcode === 'number' ? SQLITE_UNIQUE.has(errcode) : code === '23505'
}

/** Whether PostgreSQL aborted a transaction in favour of a concurrent one; then retry it. */
export function isSerializationFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown }
  return code === '40001' || code === '40P01'
}

/** Whether the connection was lost: the last statement may or may not have run. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown }
  const original = error instanceof HubError ? cause : error
  if (!(original instanceof Error)) return false
  const { code } = original as { code?: unknown }
  return typeof code === 'string'
    ? CONNECTION_LOST.has(code) || /^(08|57P)/.test(code)
    : CONNECTION_ENDED.test(original.message)
}
