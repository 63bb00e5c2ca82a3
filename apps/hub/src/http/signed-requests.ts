/**
 * Requests that a device signs with its identity key: recent by the hub's time, and each accepted once. The hub signs
 * the answer of each verified request. Used for the status of a registration and for gateway calls outside the tunnel.
 */
import {
  answerBytes,
  challengeAnswerBytes,
  decodeBase64,
  HUB_SIGNATURE_HEADER,
  NONCE_HEADER,
  requestBytes,
  SIGNATURE_HEADER,
  TIME_HEADER,
  verifySignature,
  type Identity,
} from '@hedgerow/enrolment'
import type { FastifyRequest } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { HubError } from '../kernel/hub-error.ts'

/** How far a request's time may be from the hub's, either way. */
const TIME_WINDOW_MS = 120_000
const NONCES_MAX = 50_000

export type SignedRequests = {
  /**
   * Returns the request's nonce after verifying it as the identity's. Throws `signature_invalid`, `request_replayed`,
   * or `too_many_requests` when there are more nonces than can be stored.
   */
  verify(request: FastifyRequest, body: Uint8Array, identityPublicKey: string): string
  isVerified(request: FastifyRequest): boolean
  /** For `mount()`: the hub's signature of its answer to a verified request; none for any other. */
  answerHeaders(answer: string, request: FastifyRequest): Record<string, string>
}

export function createSignedRequests({ identity, clock }: { identity: Identity; clock: () => number }): SignedRequests {
  /** The nonces of verified requests. */
  const verified = new WeakMap<FastifyRequest, string>()
  /** The time until which each nonce is refused; in the order of use. */
  const used = new Map<string, number>()

  function useOnce(key: string, until: number, now: number): void {
    for (const [old, oldUntil] of used) {
      if (oldUntil >= now) break
      used.delete(old)
    }
    if (used.has(key)) throw new HubError('request_replayed')
    // Dropping one early would allow a replay, so the new request must wait.
    if (used.size >= NONCES_MAX) throw new HubError('too_many_requests')
    used.set(key, until)
  }

  return {
    verify(request, body, identityPublicKey) {
      const { method, headers } = request
      const target = request.raw.url ?? ''
      const time = header(headers, TIME_HEADER)
      const nonce = header(headers, NONCE_HEADER)
      if (!/^\d{1,15}$/.test(time) || !decodeBase64(nonce, 32)) throw new HubError('signature_invalid')
      const signed = requestBytes({ method, target, time, nonce, body })
      if (!verifySignature(identityPublicKey, signed, header(headers, SIGNATURE_HEADER)))
        throw new HubError('signature_invalid')
      const now = clock()
      if (Math.abs(Number(time) - now) > TIME_WINDOW_MS) throw new HubError('request_replayed')
      // Its time stays acceptable for at most twice the window.
      useOnce(`${identityPublicKey} ${nonce}`, now + 2 * TIME_WINDOW_MS, now)
      verified.set(request, nonce)
      return nonce
    },
    isVerified: (request) => verified.has(request),
    answerHeaders(answer, request): Record<string, string> {
      const nonce = verified.get(request)
      if (nonce === undefined) return {}
      return signatureHeader(identity, answerBytes(nonce, Buffer.from(answer)))
    },
  }
}

/** For `mount()`: signs an unsigned request's answer when the request carries a nonce for it. */
export function signChallengeAnswers(identity: Identity) {
  return (answer: string, { headers }: FastifyRequest): Record<string, string> => {
    const nonce = header(headers, NONCE_HEADER)
    if (!decodeBase64(nonce, 32)) return {}
    return signatureHeader(identity, challengeAnswerBytes(nonce, Buffer.from(answer)))
  }
}

function signatureHeader(identity: Identity, signed: Uint8Array): Record<string, string> {
  return { [HUB_SIGNATURE_HEADER]: identity.sign(signed) }
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}
