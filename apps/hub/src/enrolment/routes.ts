import * as contract from '@hedgerow/contract'
import { answerBytes, fingerprint, HUB_SIGNATURE_HEADER, SIGNATURE_HEADER, type Identity } from '@hedgerow/enrolment'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createLimiter, type Limits } from '../access/limiter.ts'
import { mount, type HubRequest } from '../http/mount.ts'
import type { Caller } from '../access/sessions.ts'
import type { Refusals } from '../access/refusals.ts'
import { createSignedRequests } from '../http/signed-requests.ts'
import type { Notifications } from '../notifications/notifications.ts'
import { requireVpn, type LivePeers, type Vpn } from '../tunnel/tunnel.ts'
import { approveRegistration } from './approval.ts'
import { createHandshake } from './handshake.ts'
import { admitRegistration, type Admitted } from './admission.ts'
import { listPending, listRejected } from './lists.ts'
import { liftRejection, rejectRegistration, type Decider, type Submission } from './enrolment.ts'
import { listSources, rejectSource } from './sources.ts'
import { answerStatus, findRegistration, type StatusAnswer } from './status.ts'
import { createWaiters } from './waiters.ts'

/** Strangers get a few tries a second for long; a site of several hundred devices that prove themselves gets in at once. */
const ENROLMENT_LIMITS: Limits = {
  perSource: { burst: 120, perSecond: 2 },
  proofsPerSource: { burst: 600, perSecond: 5 },
  overall: { burst: 400, perSecond: 100 },
}
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
  peers: LivePeers
  notifications: Pick<Notifications, 'announce' | 'wake'>
  refusals: Pick<Refusals, 'count'>
}

/** Enrolment for devices, which prove themselves inside each call, and its decisions for people. */
export function registrationRoutes(app: FastifyInstance, dependencies: RegistrationDependencies): void {
  const waiters = createWaiters()
  // Held-open requests would keep the server from closing.
  app.addHook('preClose', async () => waiters.close())
  mountHandshake(app, dependencies, waiters)
  mountStatus(app, dependencies, waiters)
  mountDecisions(app, dependencies, waiters)
}

function mountHandshake(
  app: FastifyInstance,
  { db, clock, identity, vpn, peers, notifications, refusals }: RegistrationDependencies,
  waiters: ReturnType<typeof createWaiters>,
): void {
  const onRefused = (address: string) => refusals.count('enrolment', address)
  const limiter = createLimiter({ ...ENROLMENT_LIMITS, clock, onRefused })
  const handshake = createHandshake({ identity, clock })
  let admitting: Promise<unknown> = Promise.resolve()
  const options = { bodyLimitBytes: contract.ENROLMENT_BODY_LIMIT }

  mount(
    app,
    contract.registerChallenge,
    ({ body, sourceIp }) => {
      limiter.take(sourceIp)
      return handshake.challenge(body)
    },
    options,
  )

  mount(
    app,
    contract.register,
    async ({ body, rawBody, sourceIp, raw, reply }) => {
      if (!handshake.isFirstAnswer(body)) limiter.take(sourceIp)
      const { deviceToken, invitationCode } = handshake.open(body, rawBody, String(raw.headers[SIGNATURE_HEADER]))
      limiter.proved(sourceIp)
      const registration = { ...detailsOf(body), deviceToken, invitationCode, sourceIp }
      const admitted = await inTurn(() =>
        admitRegistration(db, registration, {
          now: clock(),
          announce: notifications.announce,
          canApprove: vpn.disabledReason === undefined,
        }),
      ).catch((error: unknown) => {
        if (error instanceof HubError && error.code === 'pending_limit_reached')
          refusals.count('approval-queue', sourceIp)
        throw error
      })
      if (admitted.tookPlace) refusals.count('approval-queue', sourceIp)
      follow(admitted)
      reply.code(202)
      return {
        registrationId: admitted.id,
        status: admitted.status,
        fingerprint: fingerprint(body.identityPublicKey),
      }
    },
    options,
  )

  /** Each admission reads the queue and the fleet whole: side by side they would only undo each other. */
  function inTurn<T>(admit: () => Promise<T>): Promise<T> {
    const admitted = admitting.then(admit)
    admitting = admitted.catch(() => {})
    return admitted
  }

  /** What was committed, told to the rest of the process. */
  function follow({ id, approved }: Admitted): void {
    notifications.wake()
    if (!approved) return
    peers.apply(approved.peer)
    waiters.wake(id)
  }
}

function detailsOf(
  body: HubRequest<typeof contract.register>['body'],
): Omit<Submission, 'deviceToken' | 'sourceIp' | 'invitationId'> {
  const { identityPublicKey, wireguardPublicKey, deviceName, deviceLocation, deviceVersion, macAddress } = body
  return { identityPublicKey, wireguardPublicKey, deviceName, deviceLocation, deviceVersion, macAddress }
}

function mountStatus(
  app: FastifyInstance,
  dependencies: RegistrationDependencies,
  waiters: ReturnType<typeof createWaiters>,
): void {
  const { db, clock, identity, vpn, refusals } = dependencies
  const onRefused = (address: string) => refusals.count('status', address)
  const limiter = createLimiter({ ...STATUS_LIMITS, clock, onRefused })
  const signedRequests = createSignedRequests(clock)
  /** The nonces of requests that were verified: only their answers are signed. */
  const verified = new WeakMap<FastifyRequest, string>()

  async function statusOf(request: HubRequest<typeof contract.registrationStatus>): Promise<StatusAnswer> {
    const { params, query, rawBody, raw, sourceIp, reply } = request
    const { registrationId } = params
    limiter.take(sourceIp)
    const row = await findRegistration(db, registrationId)
    const { method, headers } = raw
    const nonce = signedRequests.verify(
      { method, target: raw.raw.url ?? '', headers, body: rawBody },
      row.identity_public_key,
    )
    verified.set(raw, nonce)
    limiter.proved(sourceIp)
    const signal = closedSignal(reply)
    const decided = waiters.wait(registrationId, { timeoutMs: query.waitSeconds * 1_000, signal })
    const endpoints = vpn.endpoints(headers.host)
    // Read after the wait began: a decision in between wakes it.
    if ((await findRegistration(db, registrationId)).status === 'pending') await decided
    // The server waits for its connections to end.
    if (waiters.isClosed) reply.header('connection', 'close')
    return answerStatus(db, await findRegistration(db, registrationId), { nonce, vpn, endpoints })
  }

  mount(app, contract.registrationStatus, statusOf, {
    bodyLimitBytes: contract.ENROLMENT_BODY_LIMIT,
    answerHeaders(answer, request): Record<string, string> {
      const nonce = verified.get(request)
      return nonce === undefined
        ? {}
        : { [HUB_SIGNATURE_HEADER]: identity.sign(answerBytes(nonce, Buffer.from(answer))) }
    },
  })
}

/** Aborts when the client is gone. */
function closedSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}

function mountDecisions(
  app: FastifyInstance,
  dependencies: RegistrationDependencies,
  waiters: ReturnType<typeof createWaiters>,
): void {
  const { db, clock, identity, vpn, peers } = dependencies

  mount(app, contract.listPendingRegistrations, ({ caller, query, reply }) =>
    listPending(db, caller, { query, reply, now: clock(), hubIdentityPublicKey: identity.publicKey }),
  )
  mount(app, contract.listRejectedRegistrations, ({ query, reply }) => listRejected(db, { query, reply }))

  mount(app, contract.approveRegistration, async ({ params, caller, sourceIp }) => {
    requireVpn(vpn)
    const decision = { id: params.registrationId, by: decider(caller), sourceIp, now: clock() }
    const { gatewayId, name, peer, replacedPublicKey } = await approveRegistration(db, decision)
    if (replacedPublicKey !== undefined) peers.remove(replacedPublicKey)
    peers.apply(peer)
    waiters.wake(params.registrationId)
    return { deviceName: name, assignedIp: peer.address, gatewayId }
  })

  mount(app, contract.rejectRegistration, async ({ params, body, caller, sourceIp }) => {
    const decision = { id: params.registrationId, by: decider(caller), sourceIp, now: clock(), reason: body.reason }
    const rejected = await rejectRegistration(db, decision)
    waiters.wake(params.registrationId)
    return rejected
  })

  mount(app, contract.listRegistrationSources, () => listSources(db, clock()))
  mount(app, contract.rejectRegistrationsOfSource, async ({ body, caller, sourceIp }) => {
    const rejected = await rejectSource(db, { ...body, by: decider(caller), sourceIp, now: clock() })
    for (const id of rejected) waiters.wake(id)
    return { rejected: rejected.length }
  })

  mount(app, contract.liftRejection, ({ params, caller, sourceIp }) =>
    liftRejection(db, { id: params.registrationId, by: decider(caller), sourceIp, now: clock() }),
  )
}

function decider({ username, userId }: Caller): Decider {
  return { username, userId }
}
