import { NEXT_CURSOR_HEADER, type PageQuery } from '@hedgerow/contract'
import { HubError } from '../kernel/hub-error.ts'

/** What sets the headers of an answer. */
export type Headers = { header(name: string, value: string): unknown }

/** The end of a page: the sort values of its last row. */
export type Position = readonly (string | number)[]

/**
 * The requested page of a list. `rowsWanted` is one more than are shown, to see whether there are more; undefined for a
 * list without pages.
 */
export type Page = { after: Position | undefined; rowsWanted: number | undefined }

/** `kinds` are the types of the sort's values. Throws `invalid_request` for a cursor of another list. */
export function pageFrom(query: PageQuery, kinds: readonly ('string' | 'number')[], defaultLimit?: number): Page {
  const limit = query.limit ?? defaultLimit
  return {
    after: query.cursor === undefined ? undefined : decodeCursor(query.cursor, kinds),
    rowsWanted: limit === undefined ? undefined : limit + 1,
  }
}

/** Returns the rows to show, and sets the header with the next page's cursor if there is one. */
export function sendPage<T>(reply: Headers, rows: readonly T[], page: Page, positionOf: (row: T) => Position): T[] {
  const limit = page.rowsWanted === undefined ? rows.length : page.rowsWanted - 1
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  if (rows.length > limit && last !== undefined) sendCursor(reply, positionOf(last))
  return shown
}

/** Sets the header with the cursor for the rows after `position`. */
export function sendCursor(reply: Headers, position: Position): void {
  reply.header(NEXT_CURSOR_HEADER, Buffer.from(JSON.stringify(position)).toString('base64url'))
}

/** How many of the newest rows of an endless list a search reads. */
export const SEARCHED_AT_MOST = 10_000

function decodeCursor(cursor: string, kinds: readonly ('string' | 'number')[]): Position {
  const values = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (
    !Array.isArray(values) ||
    values.length !== kinds.length ||
    !values.every((value, i) => isOfKind(value, kinds[i]))
  )
    throw new HubError('invalid_request', { fieldErrors: { cursor: 'This is not a cursor' } })
  return values as Position
}

/** Times and ids are whole numbers; PostgreSQL accepts no other ids, nor U+0000 in a text. */
function isOfKind(value: unknown, kind: 'string' | 'number' | undefined): boolean {
  return kind === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && !value.includes('\0')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
