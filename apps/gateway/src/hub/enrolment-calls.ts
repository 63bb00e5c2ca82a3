import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import {
  API_BASE,
  register,
  registerChallenge,
  registrationStatus,
  STATUS_WAIT_MAX_SECONDS,
  type BodyOf,
  type SealedRegistration,
} from '@hedgerow/contract'
import {
  challengeAnswerBytes,
  exchangeKeys,
  HUB_SIGNATURE_HEADER,
  NONCE_HEADER,
  proofOfPossession,
  registrationBytes,
  seal,
  SIGNATURE_HEADER,
  unseal,
  verifyChallenge,
  verifySignature,
  type Challenge,
} from '@hedgerow/enrolment'
import { approvalOf, type Approval } from '../tunnel/approval.ts'
import { NotAHubError, post, readAnswer } from '../kernel/http-call.ts'
import type { DeviceKeys } from './identity.ts'
import { callSigned, postTo, routeOf, type CallContext, type SigningSession } from './signed-call.ts'
import { foreignCertificate, openTls, type TlsConnection } from './tls-connection.ts'

/**
 * The three calls of enrolment, each checked as in docs/protocol.md. All results are signed by the hub, except the
 * registration id, which the signed status answers confirm.
 */
export type HubSession = SigningSession & { challenge: Challenge }

export type Device = {
  keys: DeviceKeys
  name: string
  location: string
  version: string
  macAddress: string
  invitationCode: string | undefined
}

export type RegistrationStatus =
  | { status: 'pending' }
  | { status: 'rejected'; reason: string }
  | { status: 'approved'; approval: Approval }

const CALL_TIMEOUT_MS = 10_000

/** Checks whether a hub may answer. */
export type ExpectedHub = {
  /** The hub's key is pinned or remembered, so it may prove the hub's TLS certificate. */
  isSettled: boolean
  /** Throws HubRefusedError for a key that is not trusted. */
  check(identityPublicKey: string): void
}

/**
 * Step 1. Throws NotAHubError unless the answer is signed by the identity key that it names, HubRefusedError unless
 * that key is trusted and the TLS certificate is the hub's own, and TLS's own error when the certificate is not
 * trusted.
 */
export async function openSession(
  url: URL,
  keys: DeviceKeys,
  expected: ExpectedHub,
  context: CallContext,
): Promise<HubSession> {
  const request = { identityPublicKey: keys.identity.publicKey, wireguardPublicKey: keys.wireguardPublicKey }
  const nonce = randomBytes(32).toString('base64')
  let connection: TlsConnection | undefined
  const route = routeOf(context)
  const answer = await post({
    url: callUrl(url, registerChallenge.path),
    body: encode(request),
    headers: { [NONCE_HEADER]: nonce },
    timeoutMs: CALL_TIMEOUT_MS,
    signal: context.signal,
    ...route,
    ...(url.protocol === 'https:' &&
      expected.isSettled && {
        async openTls(signal: AbortSignal) {
          connection = await openTls(url, { ...route, signal })
          return connection.socket
        },
      }),
  })
  const receivedAt = performance.now()
  const { signature, tlsKeyHash, ...answered } = readAnswer(answer, registerChallenge.response)
  const challenge = { ...request, ...answered }
  if (!verifyChallenge(challenge, signature)) throw new NotAHubError("the hub's signature on its challenge is wrong")
  expected.check(challenge.hubIdentityPublicKey)
  if (connection?.problem) {
    const vouching = String(answer.headers[HUB_SIGNATURE_HEADER])
    const signed = challengeAnswerBytes(nonce, answer.body)
    // An older hub, or a hub without HTTPS of its own, does not sign.
    if (tlsKeyHash === undefined || !verifySignature(challenge.hubIdentityPublicKey, signed, vouching))
      throw connection.problem
    if (tlsKeyHash !== connection.keyHash) throw foreignCertificate()
  }
  return {
    url,
    hubIdentityPublicKey: challenge.hubIdentityPublicKey,
    tlsKeyHash: connection?.problem && connection.keyHash,
    challenge,
    hubTime: () => Math.round(challenge.serverTime + performance.now() - receivedAt),
  }
}

/** Step 2. Returns the registration id; the same keys always get the same id. */
export async function submitRegistration(session: HubSession, device: Device, context: CallContext): Promise<string> {
  const { keys } = device
  const { challenge } = session
  const shared = exchangeKeys(keys.wireguardPrivateKey, challenge.hubEphemeralPublicKey, challenge.nonce)
  if (!shared) throw new NotAHubError("the hub's key for this exchange is not valid")
  const secret: SealedRegistration = {
    deviceToken: keys.deviceToken,
    ...(device.invitationCode === undefined ? {} : { invitationCode: device.invitationCode }),
  }
  const message: BodyOf<typeof register> = {
    version: 1,
    nonce: challenge.nonce,
    identityPublicKey: keys.identity.publicKey,
    wireguardPublicKey: keys.wireguardPublicKey,
    deviceName: device.name,
    deviceLocation: device.location,
    deviceVersion: device.version,
    macAddress: device.macAddress,
    proof: proofOfPossession(shared, challenge),
    sealed: seal(shared, JSON.stringify(secret)),
  }
  const body = encode(message)
  const headers = { [SIGNATURE_HEADER]: keys.identity.sign(registrationBytes(body)) }
  const answer = await postTo(session, {
    url: callUrl(session.url, register.path),
    body,
    headers,
    timeoutMs: CALL_TIMEOUT_MS,
    signal: context.signal,
    ...routeOf(context),
  })
  const registered = readAnswer(answer, register.response)
  if (registered.fingerprint !== keys.fingerprint)
    throw new NotAHubError(`the hub received another identity key than this device's: ${registered.fingerprint}`)
  return registered.registrationId
}

/**
 * Step 3. The hub holds the request open for up to `waitSeconds` (at most 25) until a decision; then its answer may
 * take `answerMs`.
 */
export async function requestStatus(
  session: HubSession,
  { registrationId, waitSeconds, answerMs }: { registrationId: string; waitSeconds: number; answerMs: number },
  keys: DeviceKeys,
  context: CallContext,
): Promise<RegistrationStatus> {
  const waited = Math.min(waitSeconds, STATUS_WAIT_MAX_SECONDS)
  const path = `${registrationStatus.path.replace(':registrationId', registrationId)}?waitSeconds=${waited}`
  const { answer: status, nonce } = await callSigned(
    session,
    {
      path,
      body: encode({ hub: session.url.host }),
      response: registrationStatus.response,
      timeoutMs: waited * 1_000 + answerMs,
    },
    keys,
    context,
  )
  if (status.status !== 'approved') return status
  const shared = exchangeKeys(keys.wireguardPrivateKey, status.hubEphemeralPublicKey, nonce)
  const presharedKey = shared && unseal(shared, status.sealedPresharedKey)
  if (presharedKey === undefined) throw new NotAHubError("the hub's preshared key cannot be opened")
  return { status: 'approved', approval: approvalOf(status, presharedKey, session.hubIdentityPublicKey) }
}

function callUrl(hub: URL, path: string): URL {
  return new URL(API_BASE + path, hub)
}

function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message))
}
