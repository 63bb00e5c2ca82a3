import { z } from 'zod'
import { call } from './call.ts'
import { oneLine, severalLines, wholeNumber } from './fields.ts'
import { searchQuery } from './lists.ts'

export const gatewayInvitationId = z.string().regex(/^[a-z2-7]{12}$/, 'This is not an invitation id')

export const gatewayInvitation = z.object({
  id: gatewayInvitationId,
  label: z.string(),
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
  /** Of the gateways that join with it. */
  description: severalLines(1_000).default(''),
  maxUses: wholeNumber(1, 10_000).default(1),
  expiresInHours: wholeNumber(1, 8_760).default(168),
})

/** One word of a POSIX shell command, whatever it contains (POSIX.1, section 2.2.2). */
export const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The only answer that contains the code. */
export const createGatewayInvitation = call({
  method: 'POST',
  path: '/v1/admin/gateway-invitations',
  body: newGatewayInvitation,
  response: z.object({
    invitation: gatewayInvitation,
    code: z.string(),
    hubUrl: z.string(),
    /** The fingerprint of the hub's identity key: the pin in the command. */
    hubFingerprint: z.string(),
    /**
     * A line to paste on a device; `--name NAME` and `--location TEXT` may follow. It installs the agent if this hub
     * hands one out; otherwise it starts the agent from its sources.
     */
    command: z.string(),
  }),
})

/** The invitation stops working; gateways that joined with it stay. */
export const revokeGatewayInvitation = call({
  method: 'DELETE',
  path: '/v1/admin/gateway-invitations/:id',
  params: z.strictObject({ id: gatewayInvitationId }),
  errors: ['invitation_not_found'],
  response: null,
})
