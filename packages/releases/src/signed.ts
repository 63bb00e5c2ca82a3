import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'

/** The kind of a signed text, so that a signature of one kind is not valid for another. */
export type SignedAs = 'hedgerow release keys v1' | 'hedgerow release v1'

/** Longest signed file that is read, in characters. */
const MAX_LENGTH = 256 * 1024

/** Ed25519 (RFC 8032) over the kind, a line feed and the text, as base64. `text` is JSON. */
const signedText = z.strictObject({
  text: z.string(),
  signatures: z.array(z.strictObject({ key: z.base64().length(44), signature: z.base64().length(88) })).max(16),
})

/** A file with `text`, signed with each of these Ed25519 keys. */
export function signText(kind: SignedAs, text: string, privateKeys: readonly KeyObject[]): string {
  const signatures = privateKeys.map((key) => ({
    key: rawPublicKey(key),
    signature: sign(null, signedBytes(kind, text), key).toString('base64'),
  }))
  return `${JSON.stringify({ text, signatures }, null, 2)}\n`
}

/** The text of a signed file, without checking its signatures. */
export const unsignedText = (file: string): string | undefined => parseSigned(file)?.text

/** The text when one of `publicKeys` (32 bytes as base64) has signed it; undefined otherwise. */
export function readSigned(kind: SignedAs, file: string, publicKeys: readonly string[]): string | undefined {
  const parsed = parseSigned(file)
  if (!parsed) return undefined
  const { text, signatures } = parsed
  const isOfOne = signatures.some(
    ({ key, signature }) =>
      publicKeys.includes(key) && isSigned(signedBytes(kind, text), Buffer.from(signature, 'base64'), [key]),
  )
  return isOfOne ? text : undefined
}

/** Whether one of `publicKeys` (32 bytes as base64) has signed these bytes. */
export const isSigned = (bytes: Buffer, signature: Buffer, publicKeys: readonly string[]): boolean =>
  publicKeys.some((key) => verify(null, bytes, publicKeyOf(key), signature))

const parseSigned = (file: string): z.infer<typeof signedText> | undefined =>
  file.length > MAX_LENGTH ? undefined : signedText.safeParse(parseJson(file)).data

/** The public half of an Ed25519 key: its 32 bytes as base64. */
export function rawPublicKey(key: KeyObject): string {
  const { x } = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url').toString('base64')
}

/** Throws when the PEM is not a private key, or not one of Ed25519. */
export function readPrivateKey(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('this is no Ed25519 key')
  return key
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const publicKeyOf = (key: string): KeyObject =>
  createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'base64').toString('base64url') },
    format: 'jwk',
  })

const signedBytes = (kind: SignedAs, text: string): Buffer => Buffer.from(`${kind}\n${text}`)
