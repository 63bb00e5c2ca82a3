import { z } from 'zod'

/**
 * How lists page and filter. A bare call answers the whole list, or its newest part where the call says so; with
 * `limit` the answer is a plain list too, and the header `X-Next-Cursor` carries what to send as `cursor` for what
 * follows. The header is absent at the end.
 */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  cursor: z.string().min(1).max(500).optional(),
})
export type PageQuery = z.output<typeof pageQuery>

/** A page of the rows that hold `q` in what a person would look for, whatever its case. */
export const searchQuery = pageQuery.extend({ q: z.string().trim().max(200).optional() })
export type SearchQuery = z.output<typeof searchQuery>

/** Where the next page begins; see `pageQuery`. */
export const NEXT_CURSOR_HEADER = 'x-next-cursor'
