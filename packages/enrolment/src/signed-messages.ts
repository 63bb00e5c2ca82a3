/** Headers of a signed request and of a signed answer. */
export const SIGNATURE_HEADER = 'x-gateway-signature'
export const NONCE_HEADER = 'x-gateway-nonce'
export const TIME_HEADER = 'x-gateway-time'
export const IDENTITY_HEADER = 'x-gateway-identity'
export const HUB_SIGNATURE_HEADER = 'x-hub-signature'

/** The bytes under `X-Gateway-Signature` of a registration: the domain and the raw body. */
export function registrationBytes(body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from('hedgerow-register-v1\0'), body])
}

export type SignedRequest = {
  method: string
  /** Path and query, as sent. */
  target: string
  /** `X-Gateway-Time`: the hub's time in milliseconds as the gateway knows it from the challenge. */
  time: string
  /** `X-Gateway-Nonce`: 32 fresh random bytes as base64. */
  nonce: string
  body: Uint8Array
}

/**
 * The bytes under `X-Gateway-Signature` of any later request:
 *
 *     "hedgerow-request-v1" 0x00 | method " " target 0x00 | time 0x00 | nonce 0x00 | body
 */
export function requestBytes(request: SignedRequest): Uint8Array {
  const head = `hedgerow-request-v1\0${request.method} ${request.target}\0${request.time}\0${request.nonce}\0`
  return Buffer.concat([Buffer.from(head), request.body])
}

/** The bytes under `X-Hub-Signature`: the answer's raw body, bound to the nonce of its request. */
export function answerBytes(nonce: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`hedgerow-answer-v1\0${nonce}\0`), body])
}

/**
 * What `X-Hub-Signature` of a challenge covers: the answer's raw body, bound to the nonce that the gateway asked with.
 * No other answer is signed under this domain, so a challenge counts as no other answer.
 */
export function challengeAnswerBytes(nonce: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`hedgerow-challenge-answer-v1\0${nonce}\0`), body])
}
