/**
 * Digest access authentication (RFC 7616) for a client, with the quality of protection `auth`; and its first form
 * without one (RFC 2069), which old cameras use.
 */
import { createHash, randomBytes } from 'node:crypto'

const HASHES = { 'SHA-256': 'sha256', MD5: 'md5' } as const

export type DigestChallenge = {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | undefined
  readonly algorithm: keyof typeof HASHES
  /** False for RFC 2069. */
  readonly hasQuality: boolean
}

export type DigestRequest = {
  readonly method: string
  /** The path and the query. */
  readonly uri: string
  readonly user: string
  readonly password: string
  /** How many requests answered this challenge, with this one. */
  readonly count: number
}

/** A name and its value, in quotes or without. */
const FIELD = /\b([a-z]{1,20})\s{0,5}=\s{0,5}(?:"([^"\\]{0,500})"|([^\s,"]{1,200}))/gi
/** A comma after which another scheme begins. */
const NEXT_SCHEME = /,\s{0,5}(?=[a-z]{1,20} {1,5}[a-z]{1,20}\s{0,5}=)/i

/**
 * The challenge in a `www-authenticate` header, SHA-256 before MD5; undefined when there is none of these. Several
 * headers are joined by commas.
 */
export function digestChallengeOf(header: string | undefined): DigestChallenge | undefined {
  const challenges = (header ?? '').split(NEXT_SCHEME).flatMap((part) => challengeOf(part) ?? [])
  return challenges.find(({ algorithm }) => algorithm === 'SHA-256') ?? challenges[0]
}

function challengeOf(part: string): DigestChallenge | undefined {
  if (!/^\s{0,5}Digest\s/i.test(part)) return undefined
  const fields = new Map(
    [...part.matchAll(FIELD)].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? '']),
  )
  const named = (fields.get('algorithm') ?? 'MD5').toUpperCase()
  const algorithm = named === 'MD5' || named === 'SHA-256' ? named : undefined
  const [realm, nonce, quality] = [fields.get('realm'), fields.get('nonce'), fields.get('qop')]
  const isKnownQuality = quality === undefined || quality.split(',').some((one) => one.trim().toLowerCase() === 'auth')
  if (algorithm === undefined || realm === undefined || nonce === undefined || !isKnownQuality) return undefined
  return { realm, nonce, opaque: fields.get('opaque'), algorithm, hasQuality: quality !== undefined }
}

/** The `authorization` header that answers a challenge. */
export function digestAuthorization(challenge: DigestChallenge, request: DigestRequest): string {
  const { realm, nonce, opaque, algorithm, hasQuality } = challenge
  const { method, uri, user, password } = request
  const hash = (text: string) => createHash(HASHES[algorithm]).update(text).digest('hex')
  const cnonce = randomBytes(8).toString('hex')
  const count = request.count.toString(16).padStart(8, '0')
  const middle = hasQuality ? [nonce, count, cnonce, 'auth'] : [nonce]
  const response = hash([hash(`${user}:${realm}:${password}`), ...middle, hash(`${method}:${uri}`)].join(':'))
  const username = user.replaceAll(/["\\]/g, String.raw`\$&`)
  const given = { username, realm, nonce, uri, response, ...(hasQuality && { cnonce }), ...(opaque && { opaque }) }
  const quoted = Object.entries(given).map(([name, value]) => `${name}="${value}"`)
  return `Digest ${[...quoted, `algorithm=${algorithm}`, ...(hasQuality ? ['qop=auth', `nc=${count}`] : [])].join(', ')}`
}
