import { z } from 'zod'
import { applications } from './applications.ts'
import { call } from './call.ts'
import { changedFields } from './edits.ts'
import { TAGGED_AT_ONCE_MAX } from './constants.ts'
import { oneLine, severalLines, tag } from './fields.ts'
import { gatewayTexts, ofGatewayTexts, type GatewayText } from './gateway-fields.ts'
import { heartbeat } from './heartbeats.ts'
import { searchQuery } from './lists.ts'
import { PROTECTION_STATES } from './protection.ts'
import { siteId, siteName } from './sites.ts'
import { snoozeKind } from './snoozes.ts'

/** 12 lower-case base32 characters, safe as a DNS label. */
export const gatewayId = z.string().regex(/^[a-z2-7]{12}$/, 'This is not a gateway id')
/** `DT-` and 12 upper-case hexadecimal digits; the gateway makes it at its first boot. */
export const deviceToken = z.string().regex(/^DT-[0-9A-F]{12}$/, 'A device token looks like DT-0123456789AB')

export const gatewayName = oneLine(100).min(1, 'Enter a name')

export const GATEWAY_TAGS_MAX = 20

/** Without repetitions, in alphabetical order. */
export const gatewayTags = z
  .array(tag)
  .overwrite((all) => [...new Set(all)].toSorted())
  .max(GATEWAY_TAGS_MAX, `At most ${GATEWAY_TAGS_MAX} tags`)

/**
 * What `protectionOf` tells; `reason` in words, empty for an armed gateway that lacks nothing; `until`: when it changes
 * by itself, null when that is unknown; `isBrief`: blocked by a cool-down of at most two minutes, which counts as
 * protected.
 */
export const protection = z.object({
  state: z.enum(PROTECTION_STATES),
  reason: z.string(),
  until: z.iso.datetime().nullable(),
  isBrief: z.boolean(),
})

export const gateway = z.object({
  id: gatewayId,
  name: z.string(),
  status: z.enum(['online', 'offline', 'warning']),
  /** The reason for the status, in words. */
  statusReason: z.string(),
  /** Whether it would detect and deter now. */
  protection,
  /** Of its site; without one, as its gateway.yaml or its clock has it, or null when it has not told. */
  timeZone: z.string().nullable(),
  /** What is snoozed there, or in maintenance, by the hub's clock. */
  snoozes: z.array(
    z.object({ kind: snoozeKind, camera: z.string().nullable(), by: z.string(), until: z.iso.datetime() }),
  ),
  /**
   * The host and port that its UDP must reach, in words, while it seems to be blocked: `port 51820 of hub.example.org`.
   */
  blockedUdp: z.string().nullable(),
  /** `enrolled`: runs the agent. `wireguard`: a device with plain WireGuard, whose keys the hub made. */
  kind: z.enum(['enrolled', 'wireguard']),
  ...ofGatewayTexts(() => z.string()),
  site: siteName.nullable(),
  tags: z.array(z.string()),
  publicIp: z.string().nullable(),
  vpnInternalIp: z.string(),
  vpnAddress: z.string(),
  hubPublicKey: z.string(),
  version: z.string().nullable(),
  lastSeen: z.iso.datetime().nullable(),
  /**
   * When its newest trouble began: offline, its last signal; with a warning, its newest problem. Null while it is
   * online, when it never connected, and when the hub does not know.
   */
  troubleSince: z.iso.datetime().nullable(),
  /** Distinct people with a proxied request in the last 60 s or an open stream. */
  connectedUsers: z.number().int(),
  /** The applications that Connect offers beside the gateway's own interface. */
  applications,
  /** Only for the owner, managers and admins. */
  deviceToken: z.string().nullable(),
  /** The username of the person who claimed it. */
  owner: z.string().nullable(),
  createdAt: z.iso.datetime(),
})
export type Gateway = z.output<typeof gateway>

/** The gateways that the caller may see, by name; `q` matches name, site, location, tags, id and tunnel address. */
export const listGateways = call({
  method: 'GET',
  path: '/v1/hub/gateways',
  query: searchQuery.extend({ site: siteId.optional(), tag: tag.optional() }),
  response: z.array(gateway),
})

/** One step on the way from a request to a working gateway. */
const condition = z.object({
  step: z.enum(['registered', 'approved', 'handshake', 'heartbeat']),
  state: z.enum(['done', 'waiting', 'failed']),
  /** When it last happened. */
  at: z.iso.datetime().nullable(),
  message: z.string(),
})

/** Everything that the hub knows about one gateway. */
export const gatewayDetail = gateway.extend({
  /** Its conditions; the field keeps its first name, because programs read it. */
  ladder: z.array(condition),
  /** The identity key's fingerprint; null for a gateway on plain WireGuard. */
  fingerprint: z.string().nullable(),
  /** The last heartbeat and its time of arrival; null when there was none. */
  heartbeat: z
    .object({ ...heartbeat.omit({ bootId: true, sequence: true }).shape, receivedAt: z.iso.datetime() })
    .nullable(),
  /** Bytes through the tunnel since the hub or the tunnel started; null without a tunnel. */
  traffic: z.object({ receivedBytes: z.number().int(), sentBytes: z.number().int() }).nullable(),
  /** Detections that the hub refused in the last hour; null for none. */
  refused: z
    .object({
      detections: z.number().int(),
      /** As in `Refused 1,204 detections in the last hour: over 600 an hour`. */
      message: z.string(),
      at: z.iso.datetime(),
    })
    .nullable(),
  /** Who opened the gateway's page, newest first, at most 50; empty for users. */
  access: z.array(z.object({ username: z.string(), startedAt: z.iso.datetime(), sourceIp: z.string() })),
})
export type GatewayDetail = z.output<typeof gatewayDetail>

export const readGateway = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id',
  params: z.strictObject({ id: gatewayId }),
  errors: ['gateway_not_found'],
  response: gatewayDetail,
})

/** Mean and maximum of the heartbeats of one hour. */
const span = z.object({ mean: z.number(), max: z.number() })

/** How far back a gateway's history reaches: 7 days. */
export const HISTORY_HOURS = 168

/**
 * One gateway hour by hour: `hours` entries, oldest first, the last one for the current hour, up to a minute old. An
 * hour without heartbeats has null for their values.
 */
export const gatewayHistory = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/history',
  params: z.strictObject({ id: gatewayId }),
  query: z.strictObject({ hours: z.coerce.number().int().min(1).max(HISTORY_HOURS).default(24) }),
  errors: ['gateway_not_found'],
  response: z.array(
    z.object({
      hour: z.iso.datetime(),
      heartbeats: z.number().int(),
      /** Load average over one minute, divided by the number of processors. */
      load: span.nullable(),
      /** Fractions, 0 to 1. */
      memory: span.nullable(),
      disk: span.nullable(),
      /** Degrees Celsius; also null for a device without a sensor. */
      temperature: span.nullable(),
      /** Bytes through the tunnel in that hour, as the hub counts them. */
      receivedBytes: z.number().int(),
      sentBytes: z.number().int(),
    }),
  ),
})
export type GatewayHour = z.output<typeof gatewayHistory.response>[number]

function gatewayText(name: GatewayText) {
  const { lines, maxLength } = gatewayTexts[name]
  return lines === 1 ? oneLine(maxLength) : severalLines(maxLength)
}

const gatewayFields = z.strictObject({
  name: gatewayName,
  ...ofGatewayTexts(gatewayText),
  /** Left out: a changed location puts the gateway in the site of that name, if there is one. */
  siteId: siteId.nullable().optional(),
  tags: gatewayTags,
})

export const newGateway = gatewayFields.extend({
  ...ofGatewayTexts((name) => gatewayText(name).default('')),
  tags: gatewayTags.default([]),
})

/** Makes a gateway for a device that runs plain WireGuard; its configuration comes from `gatewayVpnConfig`. */
export const addGateway = call({
  method: 'POST',
  path: '/v1/hub/gateways',
  body: newGateway,
  errors: ['gateway_name_taken', 'gateway_limit_reached', 'address_pool_exhausted', 'vpn_disabled', 'site_not_found'],
  response: gateway,
})

/** Answers `gateway_name_taken` for another gateway's name. */
export const editGateway = call({
  method: 'PATCH',
  path: '/v1/hub/gateways/:id',
  params: z.strictObject({ id: gatewayId }),
  body: changedFields(gatewayFields),
  errors: ['gateway_not_found', 'gateway_name_taken', 'site_not_found', 'changed_meanwhile'],
  response: gateway,
})

/** The whole of what `editGateway` changes. */
export const updateGateway = call({
  method: 'PUT',
  path: '/v1/hub/gateways/:id',
  deprecated: true,
  params: z.strictObject({ id: gatewayId }),
  body: gatewayFields,
  errors: ['gateway_not_found', 'gateway_name_taken', 'site_not_found'],
  response: gateway,
})

/**
 * Adds tags to several gateways and removes tags from them: all of them or, after an error, none. Answers with the
 * number of changed gateways.
 */
export const tagGateways = call({
  method: 'POST',
  path: '/v1/hub/gateways/tags',
  body: z
    .strictObject({
      ids: z.array(gatewayId).min(1).max(TAGGED_AT_ONCE_MAX),
      add: gatewayTags.default([]),
      remove: gatewayTags.default([]),
    })
    .refine(({ add, remove }) => add.length + remove.length > 0, { path: ['add'], message: 'Enter a tag' })
    .refine(({ add, remove }) => !add.some((one) => remove.includes(one)), {
      path: ['remove'],
      message: 'A tag cannot be added and removed at once',
    }),
  errors: ['gateway_not_found', 'too_many_tags'],
  response: z.object({ changed: z.number().int() }),
})

/** Puts several gateways in a site, or with null in none: all of them or, after an error, none. */
export const assignSite = call({
  method: 'POST',
  path: '/v1/hub/gateways/site',
  body: z.strictObject({ ids: z.array(gatewayId).min(1).max(TAGGED_AT_ONCE_MAX), siteId: siteId.nullable() }),
  errors: ['gateway_not_found', 'site_not_found'],
  response: z.object({ changed: z.number().int() }),
})

/**
 * Removes the gateway from the tunnel, ends its proxied connections, and deletes it. `name` is the gateway's name,
 * typed to confirm; any other name answers `confirmation_mismatch`.
 */
export const deleteGateway = call({
  method: 'DELETE',
  path: '/v1/hub/gateways/:id',
  params: z.strictObject({ id: gatewayId }),
  body: z.strictObject({ name: z.string().max(200) }),
  errors: ['gateway_not_found', 'confirmation_mismatch'],
  response: null,
})

/** A wg-quick text. It contains the private key until the device's first handshake; then the hub deletes that key. */
export const gatewayVpnConfig = call({
  method: 'GET',
  path: '/v1/hub/gateways/:id/vpn-config',
  params: z.strictObject({ id: gatewayId }),
  recorded: true,
  errors: ['gateway_not_found', 'vpn_disabled'],
  response: z.object({ config: z.string() }),
})

export const validateAccess = call({
  method: 'POST',
  path: '/v1/gateway/validate-access',
  body: z.strictObject({ deviceToken }),
  response: z.object({ authorized: z.boolean(), gatewayId: gatewayId.nullable() }),
})

export const claimGateway = call({
  method: 'POST',
  path: '/v1/gateway/claim',
  body: z.strictObject({ deviceToken: z.string().trim().toUpperCase().pipe(deviceToken) }),
  errors: ['claim_refused', 'claim_locked'],
  response: z.object({
    name: z.string(),
    /** `pending`: the owner is recorded, and the gateway still waits for approval. */
    status: z.enum(['claimed', 'pending']),
    gatewayId: gatewayId.nullable(),
  }),
})
