import { randomBytes } from 'node:crypto'
import { API_BASE, type BodyOf, type Call, type ResponseOf } from '@hedgerow/contract'
import {
  answerBytes,
  HUB_SIGNATURE_HEADER,
  IDENTITY_HEADER,
  NONCE_HEADER,
  requestBytes,
  SIGNATURE_HEADER,
  TIME_HEADER,
  verifySignature,
} from '@hedgerow/enrolment'
import type { z } from 'zod'
import { NotAHubError, post, readAnswer, type Answer, type PostOptions } from '../kernel/http-call.ts'
import { openTlsTo } from './tls-connection.ts'
import type { DeviceKeys } from './identity.ts'
import type { NameService } from '../kernel/name-service.ts'

/** The state that signs requests outside the tunnel and checks their answers. */
export type SigningSession = {
  url: URL
  hubIdentityPublicKey: string
  /**
   * The hash of the key in the hub's TLS certificate when the hub's signature proves it; undefined when a known CA
   * signed it.
   */
  tlsKeyHash: string | undefined
  /** The hub's wall clock in milliseconds since 1970. */
  hubTime(): number
}

export type CallContext = {
  names: NameService
  signal: AbortSignal
  /** As `DeviceNetwork` has it. */
  localAddress?: (() => string | undefined) | undefined
}

/** Where a call's connection starts and how it finds the hub. */
export function routeOf({ names, localAddress }: CallContext): Pick<PostOptions, 'lookup' | 'localAddress'> {
  return { lookup: names.lookup, localAddress: localAddress?.() }
}

type SignedCall<S extends z.ZodType> = {
  /** The path below /api, with its query. */
  path: string
  body: Uint8Array
  response: S
  timeoutMs: number
}

/**
 * Sends a request signed by this device's identity key over a fresh nonce. The answer must carry the hub's signature
 * over the same nonce. A refusal needs none: the device only tries again.
 */
export async function callSigned<S extends z.ZodType>(
  session: SigningSession,
  { path, body, response, timeoutMs }: SignedCall<S>,
  keys: DeviceKeys,
  context: CallContext,
): Promise<{ answer: z.output<S>; nonce: string }> {
  const url = new URL(API_BASE + path, session.url)
  const time = String(session.hubTime())
  const nonce = randomBytes(32).toString('base64')
  const signed = requestBytes({ method: 'POST', target: url.pathname + url.search, time, nonce, body })
  const headers = {
    [IDENTITY_HEADER]: keys.identity.publicKey,
    [TIME_HEADER]: time,
    [NONCE_HEADER]: nonce,
    [SIGNATURE_HEADER]: keys.identity.sign(signed),
  }
  const received = await postTo(session, { url, body, headers, timeoutMs, signal: context.signal, ...routeOf(context) })
  const answer = readAnswer(received, response)
  const signature = received.headers[HUB_SIGNATURE_HEADER]
  if (
    typeof signature !== 'string' ||
    !verifySignature(session.hubIdentityPublicKey, answerBytes(nonce, received.body), signature)
  )
    throw new NotAHubError("the hub's signature on its answer is missing or wrong")
  return { answer, nonce }
}

/** Posts to a session's hub, pinned to the hub's own TLS key when no known CA signed its certificate. */
export function postTo({ tlsKeyHash }: SigningSession, options: PostOptions): Promise<Answer> {
  if (tlsKeyHash === undefined) return post(options)
  const { url, lookup, localAddress } = options
  const openTls = async (signal: AbortSignal) =>
    (await openTlsTo(tlsKeyHash, url, { lookup, localAddress, signal })).socket
  return post({ ...options, openTls })
}

/** Makes a call of the contract on the hub's public API, signed by this device. */
export async function postSigned<C extends Call & { response: z.ZodType }>(
  session: SigningSession,
  call: C,
  body: BodyOf<C>,
  options: { keys: DeviceKeys; context: CallContext; timeoutMs: number },
): Promise<ResponseOf<C>> {
  const { path, response } = call
  const { keys, context, timeoutMs } = options
  const bytes = Buffer.from(JSON.stringify(body))
  const { answer } = await callSigned(session, { path, body: bytes, response, timeoutMs }, keys, context)
  return answer as ResponseOf<C>
}
