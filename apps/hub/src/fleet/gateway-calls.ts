/**
 * The calls of approved gateways: heartbeats, detections, the ledger, reviews of detections and second looks. Mounted
 * twice, with the same handlers: inside the tunnel, where the source address is the identity, and on the public API for
 * a gateway whose UDP is blocked, where its identity key signs each request and the hub's key each answer.
 */
import * as contract from '@hedgerow/contract'
import { IDENTITY_HEADER, type Identity } from '@hedgerow/enrolment'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createLimiter, type Limits, type NamedLimiter } from '../access/limiter.ts'
import { mount, type MountOptions } from '../http/mount.ts'
import type { Refusals } from '../access/refusals.ts'
import { createSignedRequests } from '../http/signed-requests.ts'
import type { SecondLook } from '../second-look/second-look.ts'
import type { LoadShedding } from './load-shedding.ts'
import type { Heartbeats } from './heartbeats.ts'

/** Enough for a full call of the longest entries. */
const LEDGER_BODY_LIMIT = 512 * 1024
/** Enough for a picture as base64 and its text fields. */
const SECOND_LOOK_BODY_LIMIT = 512 * 1024
const HEARTBEAT_INTERVAL_SECONDS = contract.HEARTBEAT_INTERVAL_MS / 1_000
/** The rate of one gateway's calls; `namesMax` is more than a hub may have gateways. */
export const CALL_LIMIT = { perName: { burst: 120, perSecond: 4 }, namesMax: 100_000 }
const SIGNED_LIMITS: Limits = {
  perSource: { burst: 200, perSecond: 10 },
  proofsPerSource: { burst: 2_000, perSecond: 50 },
  overall: { burst: 2_000, perSecond: 500 },
}

export type GatewayCallDependencies = {
  clock: () => number
  heartbeats: Pick<Heartbeats, 'record'>
  /** How often one gateway may call, by its id. */
  calls: NamedLimiter
  loadShedding: Pick<LoadShedding, 'check'>
  /** Undefined on a hub without a vision endpoint. */
  secondLook: Pick<SecondLook, 'look'> | undefined
  /** The release that a gateway is asked to run, if any. */
  wantedUpdate(gatewayId: string): Promise<contract.WantedUpdate | undefined>
  /** Resolves after the commit, with the ids of those that were stored without their picture. */
  storeDetections(gatewayId: string, detections: readonly contract.Detection[]): Promise<string[]>
  /** Committed when it resolves. */
  storeLedger(gatewayId: string, entries: readonly contract.LedgerEntry[]): Promise<void>
  reviews: {
    /** The number of the gateway's newest review. */
    newest(gatewayId: string): Promise<number>
    after(gatewayId: string, seq: number): Promise<contract.GatewayReview[]>
  }
}

/** Refuses a call for which the hub has no time. */
export function shedLoad(
  { loadShedding }: Pick<GatewayCallDependencies, 'loadShedding'>,
  { routeOptions }: FastifyRequest,
): void {
  const isHeartbeat = routeOptions.url === contract.API_BASE + contract.sendHeartbeat.path
  loadShedding.check(isHeartbeat ? 'heartbeat' : 'other')
}

/** Records the heartbeat, and returns the hub's answer. */
async function answerHeartbeat(
  { clock, heartbeats, reviews, secondLook, wantedUpdate }: GatewayCallDependencies,
  gatewayId: string,
  heartbeat: contract.Heartbeat,
): Promise<contract.ResponseOf<typeof contract.sendHeartbeat>> {
  heartbeats.record(gatewayId, heartbeat)
  const update = await wantedUpdate(gatewayId)
  return {
    serverTime: clock(),
    settings: { heartbeatIntervalSeconds: HEARTBEAT_INTERVAL_SECONDS },
    features: [...contract.GATEWAY_FEATURES, ...(secondLook ? [contract.SECOND_LOOK_FEATURE] : [])],
    reviews: await reviews.newest(gatewayId),
    ...(update && { update }),
  }
}

/** `identify` returns the id of the calling gateway, or throws. */
export function mountGatewayCalls(
  app: FastifyInstance,
  dependencies: GatewayCallDependencies,
  identify: (request: FastifyRequest) => string,
  options: MountOptions,
): void {
  const { storeDetections, storeLedger, reviews, secondLook } = dependencies
  mount(app, contract.sendHeartbeat, ({ body, raw }) => answerHeartbeat(dependencies, identify(raw), body), options)
  mount(
    app,
    contract.reportDetections,
    async ({ body, raw }) => {
      const withoutPicture = await storeDetections(identify(raw), body.detections)
      return { accepted: body.detections.length, ...(withoutPicture.length > 0 && { withoutPicture }) }
    },
    { ...options, bodyLimitBytes: contract.GATEWAY_BODY_LIMIT },
  )
  mount(
    app,
    contract.reportLedger,
    async ({ body, raw }) => {
      await storeLedger(identify(raw), body.entries)
      return { accepted: body.entries.length }
    },
    { ...options, bodyLimitBytes: LEDGER_BODY_LIMIT },
  )
  mount(
    app,
    contract.readGatewayReviews,
    async ({ body, raw }) => ({ reviews: await reviews.after(identify(raw), body.after) }),
    options,
  )
  mount(
    app,
    contract.askSecondLook,
    async ({ body, raw }) => {
      const gatewayId = identify(raw)
      if (!secondLook) throw new HubError('second_look_unavailable')
      return secondLook.look(gatewayId, body)
    },
    { ...options, bodyLimitBytes: SECOND_LOOK_BODY_LIMIT },
  )
}

/**
 * Mounted on the public API. Only a request that names a gateway's identity may send a body, and only a valid signature
 * is accepted.
 */
export function signedGatewayRoutes(
  app: FastifyInstance,
  dependencies: GatewayCallDependencies & { db: Kysely<Tables>; identity: Identity; refusals: Pick<Refusals, 'count'> },
): void {
  const { db, clock, identity, refusals, calls } = dependencies
  const onRefused = (address: string) => refusals.count('gateway-calls', address)
  const limiter = createLimiter({ ...SIGNED_LIMITS, clock, onRefused })
  const signedRequests = createSignedRequests({ identity, clock })
  const callers = new WeakMap<FastifyRequest, { gatewayId: string; identityPublicKey: string }>()

  async function findGateway(request: FastifyRequest): Promise<void> {
    limiter.take(request.sourceIp)
    shedLoad(dependencies, request)
    const identityPublicKey = String(request.headers[IDENTITY_HEADER] ?? '')
    const row = await db
      .selectFrom('gateways')
      .select('id')
      .where('identity_public_key', '=', identityPublicKey)
      .executeTakeFirst()
    if (!row) throw new HubError('gateway_unknown')
    callers.set(request, { gatewayId: row.id, identityPublicKey })
  }

  function verify(request: FastifyRequest, body: Buffer): void {
    const gateway = callers.get(request)
    if (!gateway) throw new HubError('gateway_unknown')
    signedRequests.verify(request, body, gateway.identityPublicKey)
    limiter.proved(request.sourceIp)
    calls.take(gateway.gatewayId)
  }

  function identify(request: FastifyRequest): string {
    const gateway = callers.get(request)
    if (!gateway || !signedRequests.isVerified(request)) throw new HubError('gateway_unknown')
    return gateway.gatewayId
  }

  const options: MountOptions = {
    beforeBody: findGateway,
    verifyBody: verify,
    answerHeaders: signedRequests.answerHeaders,
  }
  mountGatewayCalls(app, dependencies, identify, options)
}
