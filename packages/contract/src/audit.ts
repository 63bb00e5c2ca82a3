import { z } from 'zod'
import { call } from './call.ts'
import { moment } from './fields.ts'
import { pageQuery } from './lists.ts'

export const auditEntry = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  /** The username at that time, `hub`, `gateway`, or a name of something that is no user, such as `Home Assistant`. */
  actor: z.string(),
  /** `noun.verb`, such as `session.start`. */
  action: z.string(),
  /** The object of the action: an id, a name or null. */
  target: z.string().nullable(),
  /** What a request, an incident or an invitation is called now, and its page; null for other targets. */
  subject: z.object({ name: z.string(), path: z.string().nullable() }).nullable(),
  sourceIp: z.string().nullable(),
  result: z.enum(['ok', 'refused']),
  /**
   * Why a command was refused or not carried out, in the device's words or the hub's; by which message's link an alert
   * was acknowledged; null for other entries.
   */
  reason: z.string().nullable(),
})
export type AuditEntry = z.output<typeof auditEntry>

const search = z.string().trim().min(1).max(100)

/**
 * Newest first: 100 entries, or `limit`. `X-Next-Cursor` carries the cursor of the next page and is absent at the end.
 * With `q`, `actor` or `action` one call searches 10,000 entries, so a page may have fewer entries than `limit`, even
 * none, and still have a next page. With `format=csv`, or `Accept: text/csv`, the answer is a CSV file of all matching
 * entries, unless a limit is given.
 */
export const listAudit = call({
  method: 'GET',
  path: '/v1/admin/audit',
  query: pageQuery.extend({
    /** Part of the actor, action, target, source address or reason, in any case. */
    q: search.optional(),
    actor: search.optional(),
    /** The whole action, or its noun alone. */
    action: search.optional(),
    from: moment.optional(),
    /** The end of the time; entries at this moment are left out. */
    to: moment.optional(),
    format: z.enum(['json', 'csv']).default('json'),
  }),
  response: z.array(auditEntry),
})
