import { z } from 'zod'
import { call } from './call.ts'
import { changedFields, wholeBody } from './edits.ts'
import { emailAddress } from './fields.ts'

const ENTRIES_MAX = 500
const INVALID_ADDRESS = 'Invalid IP address format'
const INVALID_RANGE = 'Invalid CIDR format (e.g., 10.100.0.0/16)'

/** IPv4 as four decimal numbers, or IPv6: strict, without octal, hexadecimal or short forms. */
export const ipAddress = z
  .string()
  .trim()
  .pipe(z.union([z.ipv4(), z.ipv6()], { error: INVALID_ADDRESS }))

/** An address, a slash and a prefix length: 0 to 32, or 0 to 128 after an IPv6 address. */
export const networkRange = z
  .string()
  .trim()
  .pipe(z.union([z.cidrv4(), z.cidrv6()], { error: INVALID_RANGE }))

/** Blank entries are ignored. */
const entries = (entry: z.ZodType<string, string>, error: string) => {
  const line = z.string().trim().max(100, error)
  return z.array(line.refine((text) => text === '' || entry.safeParse(text).success, error)).max(ENTRIES_MAX)
}

/**
 * Which registration requests the hub approves without a person: requests with a valid invitation when
 * `autoApproveWithInvitation` is on, and requests from a listed address or range when `requireAdminApproval` is off.
 */
export const autoApprovalSettings = z.strictObject({
  enabled: z.boolean(),
  ipWhitelist: entries(ipAddress, INVALID_ADDRESS),
  networkRanges: entries(networkRange, INVALID_RANGE),
  autoApproveWithInvitation: z.boolean(),
  requireAdminApproval: z.boolean(),
  /** Receives a mail about each new request; empty for no mail. */
  notificationEmail: z.union([z.literal(''), emailAddress]),
  notificationEnabled: z.boolean(),
})
export type AutoApprovalSettings = z.output<typeof autoApprovalSettings>

/** Of a new hub: only an invitation approves. */
export const AUTO_APPROVAL_DEFAULTS: Readonly<AutoApprovalSettings> = {
  enabled: true,
  ipWhitelist: [],
  networkRanges: [],
  autoApproveWithInvitation: true,
  requireAdminApproval: true,
  notificationEmail: '',
  notificationEnabled: true,
}

/** Managers see them, admins change them. */
export const readAutoApprovalSettings = call({
  method: 'GET',
  path: '/v1/admin/auto-approval/settings',
  response: autoApprovalSettings,
})

/** The whole object. Answers with the saved settings, each address in its canonical spelling. */
export const saveAutoApprovalSettings = call({
  method: 'POST',
  path: '/v1/admin/auto-approval/settings',
  body: wholeBody(autoApprovalSettings),
  errors: ['changed_meanwhile'],
  response: autoApprovalSettings,
})

/** As `saveAutoApprovalSettings`; settings that are left out keep their values. */
export const editAutoApprovalSettings = call({
  method: 'PATCH',
  path: '/v1/admin/auto-approval/settings',
  body: changedFields(autoApprovalSettings),
  errors: ['changed_meanwhile'],
  response: autoApprovalSettings,
})

/** Whether a request from this address, without an invitation, would be approved now; `message` names the rule. */
export const testAutoApproval = call({
  method: 'POST',
  path: '/v1/admin/auto-approval/test',
  body: z.strictObject({ ip: ipAddress }),
  response: z.object({ wouldAutoApprove: z.boolean(), message: z.string() }),
})
