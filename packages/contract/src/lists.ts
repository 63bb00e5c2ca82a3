import { z } from 'zod'

/**
 * Pagination and search of lists. Without parameters the answer is the whole list, or its newest part if the call says
 * so. With `limit` the answer is one page, and the header `X-Next-Cursor` carries the `cursor` of the next page; the
 * header is absent at the end.
 */
export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  cursor: z.string().min(1).max(500).optional(),
})
export type PageQuery = z.output<typeof pageQuery>

/** A page of the rows with `q` in one of their searchable fields, in any case. */
export const searchQuery = pageQuery.extend({ q: z.string().trim().max(200).optional() })
export type SearchQuery = z.output<typeof searchQuery>
