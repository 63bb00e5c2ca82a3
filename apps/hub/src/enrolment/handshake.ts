/**
 * The hub's side of the enrolment handshake (docs/protocol.md): issues challenges, each valid for one registration, and
 * opens the registration that answers one. Does not touch the database. Cheap checks come first, and the signature over
 * the raw body comes before any other cryptography.
 */
import { randomBytes } from 'node:crypto'
import {
  CHALLENGE_LIFETIME_MS,
  sealedRegistration,
  type register,
  type registerChallenge,
  type ResponseOf,
  type SealedRegistration,
} from '@hedgerow/contract'
import {
  exchangeKeys,
  isIdentityKey,
  isWireguardKey,
  registrationBytes,
  signChallenge,
  unseal,
  verifyProof,
  verifySignature,
  type Identity,
} from '@hedgerow/enrolment'
import { generateKeyPair } from '@hedgerow/wireguard/node'
import type { z } from 'zod'
import { HubError } from '../kernel/hub-error.ts'

/** More than the rate limits allow within a challenge's lifetime. */
const CHALLENGES_MAX = 32_768

export type RegistrationMessage = z.output<(typeof register)['body']>

type Keys = { identityPublicKey: string; wireguardPublicKey: string }
type Issued = Keys & { ephemeralPrivateKey: string; ephemeralPublicKey: string; issuedAt: number; isAnswered: boolean }

export type Handshake = {
  /** A fresh challenge for these two keys. Throws `key_invalid`. */
  challenge(keys: Keys): ResponseOf<typeof registerChallenge>
  /** Whether this is the first registration for an issued challenge: the rate limit counted both then. */
  isFirstAnswer(message: Pick<RegistrationMessage, 'nonce'> & Keys): boolean
  /**
   * Verifies a registration, opens its sealed part and uses up its challenge. Throws `signature_invalid`,
   * `challenge_unknown`, `key_invalid`, `proof_invalid` or `sealed_invalid`.
   */
  open(message: RegistrationMessage, rawBody: Uint8Array, signature: string | undefined): SealedRegistration
}

export function createHandshake({ identity, clock }: { identity: Identity; clock: () => number }): Handshake {
  /** By nonce, oldest first. */
  const challenges = new Map<string, Issued>()

  function deleteOld(now: number): void {
    for (const [nonce, { issuedAt }] of challenges) {
      if (now - issuedAt <= CHALLENGE_LIFETIME_MS && challenges.size < CHALLENGES_MAX) return
      challenges.delete(nonce)
    }
  }

  /** The challenge of this nonce, if it was issued for these keys. */
  function find(nonce: string, keys: Keys): Issued | undefined {
    const issued = challenges.get(nonce)
    const isTheirs =
      issued?.identityPublicKey === keys.identityPublicKey && issued.wireguardPublicKey === keys.wireguardPublicKey
    return isTheirs ? issued : undefined
  }

  /** Only the owner of the keys, who signed, can use up a challenge. */
  function take(nonce: string, keys: Keys): Issued {
    const issued = find(nonce, keys)
    if (!issued) throw new HubError('challenge_unknown')
    challenges.delete(nonce)
    if (Math.abs(clock() - issued.issuedAt) > CHALLENGE_LIFETIME_MS) throw new HubError('challenge_unknown')
    return issued
  }

  return {
    challenge({ identityPublicKey, wireguardPublicKey }) {
      if (!isIdentityKey(identityPublicKey)) throw invalidKey('identityPublicKey')
      if (!isWireguardKey(wireguardPublicKey)) throw invalidKey('wireguardPublicKey')
      const now = clock()
      deleteOld(now)
      const ephemeral = generateKeyPair()
      const nonce = randomBytes(32).toString('base64')
      challenges.set(nonce, {
        identityPublicKey,
        wireguardPublicKey,
        ephemeralPrivateKey: ephemeral.privateKey,
        ephemeralPublicKey: ephemeral.publicKey,
        issuedAt: now,
        isAnswered: false,
      })
      const answer = {
        nonce,
        hubEphemeralPublicKey: ephemeral.publicKey,
        hubIdentityPublicKey: identity.publicKey,
        serverTime: Math.floor(now),
      }
      return { ...answer, signature: signChallenge(identity, { identityPublicKey, wireguardPublicKey, ...answer }) }
    },

    isFirstAnswer(message) {
      const issued = find(message.nonce, message)
      if (!issued || issued.isAnswered) return false
      issued.isAnswered = true
      return true
    },

    open(message, rawBody, signature) {
      const { identityPublicKey, wireguardPublicKey, nonce } = message
      if (!verifySignature(identityPublicKey, registrationBytes(rawBody), signature ?? ''))
        throw new HubError('signature_invalid')
      const issued = take(nonce, message)
      const keys = exchangeKeys(issued.ephemeralPrivateKey, wireguardPublicKey, nonce)
      if (!keys) throw invalidKey('wireguardPublicKey')
      const proven = { identityPublicKey, wireguardPublicKey, hubEphemeralPublicKey: issued.ephemeralPublicKey }
      if (!verifyProof(keys, proven, message.proof)) throw new HubError('proof_invalid')
      const opened = sealedRegistration.safeParse(parseJson(unseal(keys, message.sealed)))
      if (!opened.success) throw new HubError('sealed_invalid')
      return opened.data
    },
  }
}

function invalidKey(field: string): HubError {
  return new HubError('key_invalid', { fieldErrors: { [field]: 'This is not a valid public key.' } })
}

function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
