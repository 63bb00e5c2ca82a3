/**
 * What an approved gateway tells: heartbeats and detections. Mounted twice, with the same handlers: inside the tunnel,
 * where the source address is the identity, and on the public API for a gateway whose UDP is blocked, where each request
 * is signed by its identity key and each answer by the hub's.
 */
import * as contract from '@hedgerow/contract'
import { answerBytes, HUB_SIGNATURE_HEADER, IDENTITY_HEADER, type Identity } from '@hedgerow/enrolment'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createLimiter } from '../access/limiter.ts'
import { mount, type MountOptions } from '../http/mount.ts'
import { createSignedRequests } from '../http/signed-requests.ts'
import type { Heartbeats } from './heartbeats.ts'

const HEARTBEAT_INTERVAL_SECONDS = contract.HEARTBEAT_INTERVAL_MS / 1_000
/** More than a gateway's queue puts into one call. */
const SIGNED_BODY_LIMIT_BYTES = 2 * 1024 * 1024
const SIGNED_LIMITS = { perAddress: { burst: 200, perSecond: 10 }, overall: { burst: 2_000, perSecond: 500 } }

export type GatewayCallDependencies = {
  clock: () => number
  heartbeats: Pick<Heartbeats, 'record'>
  /** Committed when it resolves. */
  storeDetections(gatewayId: string, detections: readonly contract.Detection[]): Promise<void>
}

type Asker = { raw: FastifyRequest; rawBody: Buffer; sourceIp: string }

/** `identify` gives the id of the gateway that asks, or throws. */
export function mountGatewayCalls(
  app: FastifyInstance,
  { clock, heartbeats, storeDetections }: GatewayCallDependencies,
  identify: (asker: Asker) => string | Promise<string>,
  options: { heartbeat?: MountOptions; detections: MountOptions },
): void {
  mount(
    app,
    contract.sendHeartbeat,
    async ({ body, raw, rawBody, sourceIp }) => {
      heartbeats.record(await identify({ raw, rawBody, sourceIp }), body)
      return { serverTime: clock(), settings: { heartbeatIntervalSeconds: HEARTBEAT_INTERVAL_SECONDS } }
    },
    options.heartbeat,
  )
  mount(
    app,
    contract.reportDetections,
    async ({ body, raw, rawBody, sourceIp }) => {
      await storeDetections(await identify({ raw, rawBody, sourceIp }), body.detections)
      return { accepted: body.detections.length }
    },
    options.detections,
  )
}

/** On the public API. Only who names a gateway's identity may send a body at all, and only its key's holder is heard. */
export function signedGatewayRoutes(
  app: FastifyInstance,
  dependencies: GatewayCallDependencies & { db: Kysely<Tables>; identity: Identity },
): void {
  const { db, clock, identity } = dependencies
  const limiter = createLimiter({ ...SIGNED_LIMITS, clock })
  const signedRequests = createSignedRequests(clock)
  const known = new WeakMap<FastifyRequest, { gatewayId: string; identityPublicKey: string }>()
  /** The nonces of requests that were verified: only their answers are signed. */
  const verified = new WeakMap<FastifyRequest, string>()

  async function findGateway(request: FastifyRequest): Promise<void> {
    limiter.take(request.sourceIp)
    const identityPublicKey = String(request.headers[IDENTITY_HEADER] ?? '')
    const row = await db
      .selectFrom('gateways')
      .select('id')
      .where('identity_public_key', '=', identityPublicKey)
      .executeTakeFirst()
    if (!row) throw new HubError('gateway_unknown')
    known.set(request, { gatewayId: row.id, identityPublicKey })
  }

  function identify({ raw, rawBody }: Asker): string {
    const gateway = known.get(raw)
    if (!gateway) throw new HubError('gateway_unknown')
    const { method, headers } = raw
    const target = raw.raw.url ?? ''
    const nonce = signedRequests.verify({ method, target, headers, body: rawBody }, gateway.identityPublicKey)
    verified.set(raw, nonce)
    return gateway.gatewayId
  }

  const options: MountOptions = {
    beforeBody: findGateway,
    answerHeaders(answer, request): Record<string, string> {
      const nonce = verified.get(request)
      return nonce === undefined
        ? {}
        : { [HUB_SIGNATURE_HEADER]: identity.sign(answerBytes(nonce, Buffer.from(answer))) }
    },
  }
  mountGatewayCalls(app, dependencies, identify, {
    heartbeat: options,
    detections: { ...options, bodyLimitBytes: SIGNED_BODY_LIMIT_BYTES },
  })
}
