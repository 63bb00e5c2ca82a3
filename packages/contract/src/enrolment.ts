import { z } from 'zod'
import { ipAddress, networkRange } from './auto-approval.ts'
import { call } from './call.ts'
import { cleanLine, epochMs, oneLine } from './fields.ts'
import { deviceToken, gatewayId, gatewayName } from './gateways.ts'
import { STATUS_WAIT_MAX_SECONDS } from './constants.ts'
import { searchQuery } from './lists.ts'
import { siteId } from './sites.ts'

/** The last characters that leave the unused bits zero, so that each value has one spelling; by length modulo 3. */
const LAST_CHARACTERS = ['[A-Za-z0-9+/]', '[AQgw]==', '[AEIMQUYcgkosw048]=']

/** `length` bytes as canonical base64 (RFC 4648 §3.5). */
const bytes = (length: number) => {
  const characters = Math.ceil((length * 8) / 6)
  const pattern = new RegExp(`^[A-Za-z0-9+/]{${characters - 1}}${LAST_CHARACTERS[length % 3]}$`)
  return z.string().regex(pattern, `Must be ${length} bytes as base64`)
}

export const registrationId = z.string().regex(/^[a-z2-7]{20}$/, 'This is not a registration id')
const reason = oneLine(500).min(1, 'Rejection reason is required')

/** Step 1 (docs/protocol.md): the signature covers every field of both messages. */
export const registerChallenge = call({
  method: 'POST',
  path: '/v1/gateway/register/challenge',
  body: z.strictObject({ identityPublicKey: bytes(32), wireguardPublicKey: bytes(32) }),
  errors: ['key_invalid', 'too_many_requests'],
  response: z.object({
    nonce: bytes(32),
    hubEphemeralPublicKey: bytes(32),
    hubIdentityPublicKey: bytes(32),
    /** Milliseconds since 1970. */
    serverTime: epochMs,
    signature: bytes(64),
    /** SHA-256 of the public key of the hub's HTTPS certificate; valid only in a signed answer. */
    tlsKeyHash: bytes(32).optional(),
  }),
})

/** The part of a registration that only the hub may read; sealed, because the connection may be plain HTTP. */
export const sealedRegistration = z.strictObject({ deviceToken, invitationCode: z.string().max(100).optional() })
export type SealedRegistration = z.output<typeof sealedRegistration>

/** Step 2: the raw body is signed in `X-Gateway-Signature`. */
export const register = call({
  method: 'POST',
  path: '/v1/gateway/register',
  body: z.strictObject({
    version: z.literal(1),
    nonce: bytes(32),
    identityPublicKey: bytes(32),
    wireguardPublicKey: bytes(32),
    deviceName: gatewayName,
    deviceLocation: oneLine(200),
    deviceVersion: oneLine(50),
    macAddress: z.union([z.literal(''), z.mac({ delimiter: ':' })]),
    proof: bytes(32),
    sealed: z.base64().max(1_024),
  }),
  signed: true,
  errors: [
    'challenge_unknown',
    'signature_invalid',
    'proof_invalid',
    'sealed_invalid',
    'key_invalid',
    'pending_limit_reached',
    'storage_low',
    'too_many_requests',
  ],
  status: 202,
  response: z.object({
    registrationId,
    status: z.enum(['pending', 'approved', 'rejected']),
    /** The fingerprint of the identity key that the hub received; the device shows the same one. */
    fingerprint: z.string(),
  }),
})

/** The data that an approved gateway needs to join the tunnel. */
export const approvedRegistration = z.object({
  status: z.literal('approved'),
  gatewayId,
  assignedIp: z.ipv4(),
  hubVpnIp: z.ipv4(),
  allowedIps: z.array(z.cidrv4()),
  /** `host:port`; the gateway tries them in this order. */
  endpoints: z.array(z.string()),
  hubPublicKey: bytes(32),
  /** The key that `sealedPresharedKey` was sealed with, made for this answer. */
  hubEphemeralPublicKey: bytes(32),
  sealedPresharedKey: z.base64(),
  keepaliveSeconds: z.number().int().min(0).max(65_535),
})
export type ApprovedRegistration = z.output<typeof approvedRegistration>

/** Step 3: a signed request, held open up to `waitSeconds` while pending; the answer is signed in `X-Hub-Signature`. */
export const registrationStatus = call({
  method: 'POST',
  path: '/v1/gateway/register/:registrationId/status',
  params: z.strictObject({ registrationId }),
  query: z.strictObject({ waitSeconds: z.coerce.number().int().min(0).max(STATUS_WAIT_MAX_SECONDS).default(0) }),
  /** The host by which the gateway reached the hub; older gateways send no body. */
  body: z.strictObject({ hub: cleanLine(300) }).nullish(),
  signed: true,
  errors: [
    'registration_not_found',
    'signature_invalid',
    'request_replayed',
    'key_invalid',
    'vpn_disabled',
    'too_many_requests',
  ],
  response: z.discriminatedUnion('status', [
    z.object({ status: z.literal('pending') }),
    z.object({ status: z.literal('rejected'), reason: z.string() }),
    approvedRegistration,
  ]),
})

/** The reason why the hub cannot approve a device that its rules approve; it is approved when the reason ends. */
export const registrationHold = z.enum([
  'gateway_limit_reached',
  'address_pool_exhausted',
  'device_token_taken',
  'vpn_disabled',
])
export type RegistrationHold = z.output<typeof registrationHold>

export const pendingRegistration = z.object({
  registrationId,
  deviceName: z.string(),
  deviceLocation: z.string(),
  sourceIp: z.string(),
  requestedAt: z.iso.datetime(),
  deviceVersion: z.string(),
  macAddress: z.string(),
  wireguardPublicKey: z.string(),
  status: z.literal('pending'),
  /** The fingerprint of the gateway's identity key; a person compares it with the one on the device. */
  fingerprint: z.string(),
  /** The fingerprint of the hub's own identity key; the device shows it too. */
  hubFingerprint: z.string(),
  /** The name of the gateway whose key this request would change; null for a new gateway. */
  keyChangeFor: z.string().nullable(),
  /** The request came from a listed address or range of the auto-approval settings. */
  trustedNetwork: z.boolean(),
  /** The label of its invitation, if that is valid now; null otherwise. */
  invitation: z.string().nullable(),
  /** Why it waits although the auto-approval settings approve it; `message` is a sentence. Null for all others. */
  waitsFor: z.object({ code: registrationHold, message: z.string() }).nullable(),
})
export type PendingRegistration = z.output<typeof pendingRegistration>

/** Oldest first; `q` matches name, location, address and MAC address. */
export const listPendingRegistrations = call({
  method: 'GET',
  path: '/v1/admin/gateway-requests/pending',
  query: searchQuery,
  response: z.array(pendingRegistration),
})

export const approveRegistration = call({
  method: 'POST',
  path: '/v1/admin/gateway-requests/:registrationId/approve',
  params: z.strictObject({ registrationId }),
  /** The site of a new gateway; without one, its invitation's, or the site that its location names. */
  body: z.strictObject({ siteId: siteId.optional() }).nullish(),
  errors: [
    'site_not_found',
    'registration_not_found',
    'registration_decided',
    'gateway_limit_reached',
    'address_pool_exhausted',
    'device_token_taken',
    'key_invalid',
    'vpn_disabled',
  ],
  response: z.object({ deviceName: z.string(), assignedIp: z.string(), gatewayId }),
})

export const rejectRegistration = call({
  method: 'POST',
  path: '/v1/admin/gateway-requests/:registrationId/reject',
  params: z.strictObject({ registrationId }),
  body: z.strictObject({ reason }),
  errors: ['registration_not_found', 'registration_decided'],
  response: z.object({ deviceName: z.string() }),
})

/** An address or a network, such as `198.51.100.7` or `2001:db8::/48`. */
const source = z.union([ipAddress, networkRange], { error: 'Enter an address or a network, such as 2001:db8::/48' })

/**
 * Addresses and networks with many requests, largest first; they do not overlap. Key changes and claimed requests do
 * not count.
 */
export const listRegistrationSources = call({
  method: 'GET',
  path: '/v1/admin/gateway-requests/sources',
  response: z.array(z.object({ source: z.string(), waiting: z.number().int() })),
})

/** Rejects every waiting request from this source, except key changes and claimed requests. */
export const rejectRegistrationsOfSource = call({
  method: 'POST',
  path: '/v1/admin/gateway-requests/reject-source',
  body: z.strictObject({ source, reason }),
  response: z.object({ rejected: z.number().int() }),
})

export const rejectedRegistration = z.object({
  registrationId,
  deviceName: z.string(),
  deviceLocation: z.string(),
  sourceIp: z.string(),
  requestedAt: z.iso.datetime(),
  rejectedAt: z.iso.datetime(),
  /** A username. */
  rejectedBy: z.string(),
  reason: z.string(),
  fingerprint: z.string(),
})
export type RejectedRegistration = z.output<typeof rejectedRegistration>

/** Rejected identities, newest first. They stay rejected until somebody lifts the rejection. */
export const listRejectedRegistrations = call({
  method: 'GET',
  path: '/v1/admin/gateway-requests/rejected',
  query: searchQuery,
  response: z.array(rejectedRegistration),
})

/** Removes a rejection: the device's next request waits for a decision like any other. */
export const liftRejection = call({
  method: 'POST',
  path: '/v1/admin/gateway-requests/:registrationId/lift',
  params: z.strictObject({ registrationId }),
  errors: ['registration_not_found'],
  response: z.object({ deviceName: z.string() }),
})
