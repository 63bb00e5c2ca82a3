import { z } from 'zod'
import { call } from './call.ts'

const ENTRIES_MAX = 1_000

/** IPv4 as four decimal numbers, or IPv6: one strict spelling, no octal, hexadecimal or short forms. */
export const ipAddress = z
  .string()
  .trim()
  .pipe(z.union([z.ipv4(), z.ipv6()], { error: 'Invalid IP address format' }))

/** An address, a slash and a prefix length: 0 to 32, or 0 to 128 behind an IPv6 address. */
export const networkRange = z
  .string()
  .trim()
  .pipe(z.union([z.cidrv4(), z.cidrv6()], { error: 'Invalid CIDR format (e.g., 10.100.0.0/16)' }))

/** Blank entries are ignored. */
const entries = <Entry extends z.ZodType<string, string>>(entry: Entry) =>
  z
    .array(z.string().max(100))
    .transform((texts) => texts.filter((text) => text.trim() !== ''))
    .pipe(z.array(entry).max(ENTRIES_MAX))

/**
 * Which registration requests are approved without a person. A request with a valid invitation is when
 * `autoApproveWithInvitation`; one from a listed address or range is unless `requireAdminApproval`.
 */
export const autoApprovalSettings = z.strictObject({
  enabled: z.boolean().default(false),
  ipWhitelist: entries(ipAddress).default([]),
  networkRanges: entries(networkRange).default([]),
  autoApproveWithInvitation: z.boolean().default(true),
  requireAdminApproval: z.boolean().default(true),
  /** Who is told of a new request; empty for nobody. */
  notificationEmail: z.union([z.literal(''), z.email('Enter an email address').max(254)]).default(''),
  notificationEnabled: z.boolean().default(true),
})
export type AutoApprovalSettings = z.output<typeof autoApprovalSettings>

/** Managers see them, admins change them. */
export const readAutoApprovalSettings = call({
  method: 'GET',
  path: '/v1/admin/auto-approval/settings',
  response: autoApprovalSettings,
})

/** Takes the whole object. Answers what is saved: addresses in their one spelling, ranges from their first address. */
export const saveAutoApprovalSettings = call({
  method: 'POST',
  path: '/v1/admin/auto-approval/settings',
  body: autoApprovalSettings,
  response: autoApprovalSettings,
})

/** Whether a request from this address, without an invitation, would be approved now; `message` names the rule. */
export const testAutoApproval = call({
  method: 'POST',
  path: '/v1/admin/auto-approval/test',
  body: z.strictObject({ ip: ipAddress }),
  response: z.object({ wouldAutoApprove: z.boolean(), message: z.string() }),
})
