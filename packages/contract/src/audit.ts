import { z } from 'zod'
import { call } from './call.ts'

export const auditEntry = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  /** A username as it was then, or `hub` or `gateway`. */
  actor: z.string(),
  /** `noun.verb`, such as `session.start`. */
  action: z.string(),
  /** What it was done to: an id, a name or null. */
  target: z.string().nullable(),
  sourceIp: z.string().nullable(),
  result: z.enum(['ok', 'refused']),
})
export type AuditEntry = z.output<typeof auditEntry>

const search = z.string().trim().min(1).max(100)

/**
 * Newest first: 100 entries, or `limit`. `X-Next-Cursor` carries the cursor of the next page and is absent at the end.
 * With `format=csv`, or `Accept: text/csv`, the same entries as a CSV file, without a limit unless one is given.
 */
export const listAudit = call({
  method: 'GET',
  path: '/v1/admin/audit',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(1_000).optional(),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, 'This is not a cursor')
      .optional(),
    /** Part of the actor, action, target or source address, in any case. */
    q: search.optional(),
    actor: search.optional(),
    /** The whole action, or its noun alone. */
    action: search.optional(),
    from: z.iso.datetime().optional(),
    /** Up to and without this moment. */
    to: z.iso.datetime().optional(),
    format: z.enum(['json', 'csv']).default('json'),
  }),
  response: z.array(auditEntry),
})
