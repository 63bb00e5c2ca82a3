/**
 * The cryptography of enrolment, version 1, as docs/protocol.md specifies it: identity keys and fingerprints, the
 * challenge, the proof of possession, sealing, and signed requests. The hub and the gateway both call it, so every
 * signed or hashed byte has one definition. It does no I/O and keeps no state. Bad data of another party gives
 * `undefined` or `false`, never an exception.
 */
export * from './identity.ts'
export * from './base32.ts'
export * from './challenge.ts'
export * from './proof.ts'
export * from './seal.ts'
export * from './signed-messages.ts'
export * from './tls-key.ts'
