import { z } from 'zod'
import { username } from './accounts.ts'
import { call } from './call.ts'
import { LABELS_MAX } from './constants.ts'
import { registrationId } from './enrolment.ts'
import { oneLine, severalLines, wholeNumber } from './fields.ts'
import { gatewayId, gatewayTags } from './gateways.ts'
import { searchQuery } from './lists.ts'
import { siteId, siteName } from './sites.ts'

export const gatewayInvitationId = z.string().regex(/^[a-z2-7]{12}$/, 'This is not an invitation id')

export const gatewayInvitation = z.object({
  id: gatewayInvitationId,
  label: z.string(),
  /** What the gateways get that join with it; an empty name or location leaves the device's own. */
  name: z.string(),
  location: z.string(),
  site: siteName.nullable(),
  tags: z.array(z.string()),
  /** The username of who owns them. */
  owner: z.string().nullable(),
  /** Whether they join without a person's approval, where the hub's rules allow it. */
  approves: z.boolean(),
  /** `used_up`, `expired` and `revoked` invitations no longer work. */
  status: z.enum(['active', 'used_up', 'expired', 'revoked']),
  uses: z.number().int(),
  maxUses: z.number().int(),
  expiresAt: z.iso.datetime(),
  createdAt: z.iso.datetime(),
  /** A username. */
  createdBy: z.string(),
})
export type GatewayInvitation = z.output<typeof gatewayInvitation>

/** Newest first; `q` matches the label or creator. Without the codes: only `createGatewayInvitation` returns one. */
export const listGatewayInvitations = call({
  method: 'GET',
  path: '/v1/admin/gateway-invitations',
  query: searchQuery,
  response: z.array(gatewayInvitation),
})

export const newGatewayInvitation = z.strictObject({
  label: oneLine(100).min(1, 'Enter a label'),
  name: oneLine(100).default(''),
  location: oneLine(200).default(''),
  /** Null: the site that the location names, if there is one. */
  siteId: siteId.nullable().default(null),
  description: severalLines(1_000).default(''),
  tags: gatewayTags.default([]),
  /** Managers can name only themselves. */
  owner: username.nullable().default(null),
  approves: z.boolean().default(true),
  maxUses: wholeNumber(1, 10_000).default(1),
  expiresInHours: wholeNumber(1, 8_760).default(168),
})

/** One word of a POSIX shell command, whatever it contains (POSIX.1, section 2.2.2). */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** With the code, which no other answer contains. */
const madeInvitation = z.object({
  invitation: gatewayInvitation,
  code: z.string(),
  /**
   * A line to paste on a device; `--name NAME` and `--location TEXT` may follow. It installs the agent if this hub
   * hands one out; otherwise it starts the agent from its sources.
   */
  command: z.string(),
})
const pinnedHub = z.object({
  hubUrl: z.string(),
  /** The fingerprint of the hub's identity key: the pin in the command. */
  hubFingerprint: z.string(),
})

export const createGatewayInvitation = call({
  method: 'POST',
  path: '/v1/admin/gateway-invitations',
  body: newGatewayInvitation,
  errors: ['user_not_found', 'site_not_found'],
  response: z.object({ ...madeInvitation.shape, ...pinnedHub.shape }),
})

/**
 * An invitation for one gateway for each line of `csv`: all of them or, after an error, none. Its columns are name,
 * site, tags and owner; a first line with their names may have them in another order. `labels_invalid` has an error for
 * each wrong line in `fieldErrors`, as `"line 3": "user_not_found: …"`.
 */
export const createGatewayLabels = call({
  method: 'POST',
  path: '/v1/admin/gateway-invitations/labels',
  body: z.strictObject({
    csv: z.string().max(200_000, 'At most 200,000 characters'),
    approves: z.boolean().default(true),
    expiresInHours: wholeNumber(1, 8_760).default(168),
  }),
  errors: ['labels_invalid'],
  response: pinnedHub.extend({ labels: z.array(madeInvitation) }),
})

/** A gateway, or a request to join, that came with an invitation. */
export const arrival = z.object({
  invitationId: gatewayInvitationId,
  registrationId,
  name: z.string(),
  status: z.enum(['pending', 'approved', 'rejected']),
  fingerprint: z.string(),
  requestedAt: z.iso.datetime(),
  decidedAt: z.iso.datetime().nullable(),
  /** Null while it is not approved. */
  gatewayId: gatewayId.nullable(),
})
export type Arrival = z.output<typeof arrival>

/** What came with these invitations, oldest first. */
export const listArrivals = call({
  method: 'GET',
  path: '/v1/admin/gateway-invitations/arrivals',
  query: z.strictObject({
    /** Ids of invitations, with commas between them. */
    of: z
      .string()
      .transform((text) => text.split(','))
      .pipe(z.array(gatewayInvitationId).max(LABELS_MAX)),
  }),
  response: z.array(arrival),
})

/** The invitation stops working; gateways that joined with it stay. */
export const revokeGatewayInvitation = call({
  method: 'DELETE',
  path: '/v1/admin/gateway-invitations/:id',
  params: z.strictObject({ id: gatewayInvitationId }),
  errors: ['invitation_not_found'],
  response: null,
})
