import type { X509Certificate } from 'node:crypto'
import * as contract from '@hedgerow/contract'
import { fingerprint, SIGNATURE_HEADER, tlsKeyHash, type Identity } from '@hedgerow/enrolment'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Kysely } from 'kysely'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createLimiter, type Limits } from '../access/limiter.ts'
import { mount, type HubRequest } from '../http/mount.ts'
import type { Refusals } from '../access/refusals.ts'
import { by } from '../facts/facts.ts'
import { createSignedRequests, signChallengeAnswers } from '../http/signed-requests.ts'
import { requireVpn, type Vpn } from '../tunnel/tunnel.ts'
import { approveRegistration } from './approval.ts'
import { createHandshake } from './handshake.ts'
import { admitRegistration } from './admission.ts'
import { listPending, listRejected } from './lists.ts'
import { liftRejection, rejectRegistration, type Submission } from './enrolment.ts'
import { listSources, rejectSource } from './sources.ts'
import { answerStatus, findRegistration, type StatusAnswer } from './status.ts'
import type { Waiters } from './waiters.ts'

/** Strangers get a few tries a second in the long run; a site of several hundred proven devices gets in at once. */
const ENROLMENT_LIMITS: Limits = {
  perSource: { burst: 120, perSecond: 2 },
  proofsPerSource: { burst: 600, perSecond: 5 },
  overall: { burst: 400, perSecond: 100 },
}
/** A code that the hub made gives its try back, also one that is no longer valid. */
const CODE_LIMITS: Limits = { ...ENROLMENT_LIMITS, perSource: { burst: 60, perSecond: 0.1 } }
const STATUS_LIMITS: Limits = {
  perSource: { burst: 200, perSecond: 10 },
  proofsPerSource: { burst: 2_000, perSecond: 50 },
  overall: { burst: 2_000, perSecond: 500 },
}

export type RegistrationDependencies = {
  db: Kysely<Tables>
  clock: () => number
  identity: Identity
  vpn: Vpn
  waiters: Waiters
  refusals: Pick<Refusals, 'count'>
  requireRoom: StorageWatch['requireRoom']
  /** The current certificate of the hub's own HTTPS; undefined without HTTPS. */
  tlsCertificate: (() => X509Certificate) | undefined
}

/** Enrolment calls for devices, which prove their keys inside each call, and decisions for people. */
export function registrationRoutes(app: FastifyInstance, dependencies: RegistrationDependencies): void {
  // Open status requests would keep the server from closing.
  app.addHook('preClose', async () => dependencies.waiters.close())
  mountHandshake(app, dependencies)
  mountStatus(app, dependencies)
  mountDecisions(app, dependencies)
}

function mountHandshake(app: FastifyInstance, dependencies: RegistrationDependencies): void {
  const { db, clock, identity, vpn, refusals, requireRoom, tlsCertificate } = dependencies
  const onRefused = (address: string) => refusals.count('enrolment', address)
  const limiter = createLimiter({ ...ENROLMENT_LIMITS, clock, onRefused })
  const codes = createLimiter({ ...CODE_LIMITS, clock, onRefused })
  const handshake = createHandshake({ identity, clock })
  let admitting: Promise<unknown> = Promise.resolve()
  const options = { bodyLimitBytes: contract.ENROLMENT_BODY_LIMIT }

  mount(
    app,
    contract.registerChallenge,
    ({ body, sourceIp }) => {
      limiter.take(sourceIp)
      return { ...handshake.challenge(body), ...(tlsCertificate && { tlsKeyHash: tlsKeyHash(tlsCertificate()) }) }
    },
    { ...options, answerHeaders: signChallengeAnswers(identity) },
  )

  mount(
    app,
    contract.register,
    async ({ body, rawBody, sourceIp, raw }) => {
      if (!handshake.isFirstAnswer(body)) limiter.take(sourceIp)
      const { deviceToken, invitationCode } = handshake.open(body, rawBody, String(raw.headers[SIGNATURE_HEADER]))
      limiter.proved(sourceIp)
      await requireRoom()
      const registration = { ...detailsOf(body), deviceToken, invitationCode, sourceIp }
      const admitted = await inTurn(async () => {
        // In its turn, so that many right codes of one site at once do not wait for each other's tries.
        if (invitationCode !== undefined) codes.take(sourceIp)
        const done = await admitRegistration(db, registration, {
          now: clock(),
          canApprove: vpn.disabledReason === undefined,
        })
        if (invitationCode !== undefined && !done.isGuess) codes.proved(sourceIp)
        return done
      }).catch((error: unknown) => {
        if (error instanceof HubError && error.code === 'pending_limit_reached')
          refusals.count('approval-queue', sourceIp)
        throw error
      })
      if (admitted.tookPlace) refusals.count('approval-queue', sourceIp)
      return {
        registrationId: admitted.id,
        status: admitted.status,
        fingerprint: fingerprint(body.identityPublicKey),
      }
    },
    options,
  )

  /** Runs admissions one at a time: each reads the whole queue and fleet, so concurrent ones would only conflict. */
  function inTurn<T>(admit: () => Promise<T>): Promise<T> {
    const admitted = admitting.then(admit)
    admitting = admitted.catch(() => {})
    return admitted
  }
}

function detailsOf(
  body: HubRequest<typeof contract.register>['body'],
): Omit<Submission, 'deviceToken' | 'sourceIp' | 'invitationId'> {
  const { identityPublicKey, wireguardPublicKey, deviceName, deviceLocation, deviceVersion, macAddress } = body
  return { identityPublicKey, wireguardPublicKey, deviceName, deviceLocation, deviceVersion, macAddress }
}

function mountStatus(app: FastifyInstance, dependencies: RegistrationDependencies): void {
  const { db, clock, identity, vpn, waiters, refusals } = dependencies
  const onRefused = (address: string) => refusals.count('status', address)
  const limiter = createLimiter({ ...STATUS_LIMITS, clock, onRefused })
  const signedRequests = createSignedRequests({ identity, clock })

  async function statusOf(request: HubRequest<typeof contract.registrationStatus>): Promise<StatusAnswer> {
    const { params, query, body, rawBody, raw, sourceIp, reply } = request
    const { registrationId } = params
    limiter.take(sourceIp)
    let row = await findRegistration(db, registrationId)
    const nonce = signedRequests.verify(raw, rawBody, row.identity_public_key)
    limiter.proved(sourceIp)
    if (row.status === 'pending') {
      const signal = closedSignal(reply)
      const decided = waiters.wait(registrationId, { timeoutMs: query.waitSeconds * 1_000, signal })
      // Read after the wait began, so that a decision in between wakes it.
      if ((await findRegistration(db, registrationId)).status === 'pending') await decided
      row = await findRegistration(db, registrationId)
    }
    // The server waits for its connections to end.
    if (waiters.isClosed) reply.header('connection', 'close')
    // A gateway signs the host that it called; anybody in between can change the header.
    return answerStatus(db, row, { nonce, vpn, endpoints: vpn.endpoints(body?.hub ?? raw.headers.host) })
  }

  mount(app, contract.registrationStatus, statusOf, {
    bodyLimitBytes: contract.ENROLMENT_BODY_LIMIT,
    answerHeaders: signedRequests.answerHeaders,
  })
}

/** Aborts when the client is gone. */
function closedSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}

function mountDecisions(app: FastifyInstance, { db, clock, identity, vpn }: RegistrationDependencies): void {
  mount(app, contract.listPendingRegistrations, ({ scope, query, reply }) =>
    listPending(db, scope, { query, reply, now: clock(), hubIdentityPublicKey: identity.publicKey }),
  )
  mount(app, contract.listRejectedRegistrations, ({ query, reply }) => listRejected(db, { query, reply }))

  mount(app, contract.approveRegistration, async ({ params, body, act }) => {
    requireVpn(vpn)
    const decision = { id: params.registrationId, siteId: body?.siteId, ...by(act) }
    const { gatewayId, name, address } = await approveRegistration(db, decision)
    return { deviceName: name, assignedIp: address, gatewayId }
  })

  mount(app, contract.rejectRegistration, ({ params, body, act }) => {
    const decision = { id: params.registrationId, ...by(act) }
    return rejectRegistration(db, { ...decision, reason: body.reason })
  })

  mount(app, contract.listRegistrationSources, () => listSources(db, clock()))
  mount(app, contract.rejectRegistrationsOfSource, async ({ body, act }) => {
    const rejected = await rejectSource(db, { ...body, ...by(act) })
    return { rejected: rejected.length }
  })

  mount(app, contract.liftRejection, ({ params, act }) => liftRejection(db, { id: params.registrationId, ...by(act) }))
}
