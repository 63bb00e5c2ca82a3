/**
 * Digest access authentication (RFC 7616) for a client, with the quality of protection `auth`, or `auth-int` where that
 * is all there is; and its first form without one (RFC 2069), which old cameras use.
 */
import { createHash, randomBytes } from 'node:crypto'

/** The strongest first. */
const HASHES = { 'SHA-512-256': 'sha512-256', 'SHA-256': 'sha256', MD5: 'md5' } as const
const ALGORITHMS = Object.keys(HASHES) as (keyof typeof HASHES)[]
const SESSION = /-sess$/i

export type DigestChallenge = {
  readonly realm: string
  readonly nonce: string
  readonly opaque: string | undefined
  readonly algorithm: keyof typeof HASHES
  /** The algorithm as the server wrote it. */
  readonly named: string | undefined
  /** The key is one of this nonce: `MD5-sess`, `SHA-256-sess`. */
  readonly isSession: boolean
  /** Undefined for RFC 2069. */
  readonly quality: 'auth' | 'auth-int' | undefined
  /** One for all requests that answer it: servers differ in which one a session's key is of. */
  readonly cnonce: string
}

export type DigestRequest = {
  readonly method: string
  /** The path and the query. */
  readonly uri: string
  readonly user: string
  readonly password: string
  readonly body: string
  /** How many requests answered this challenge, with this one. */
  readonly count: number
}

/** A name and its value, in quotes or without. */
const FIELD = /\b([a-z]{1,20})\s{0,5}=\s{0,5}(?:"((?:[^"\\]|\\.){0,1000})"|([^\s,"]{1,1000}))/gi
/** A comma after which another scheme begins. */
const NEXT_SCHEME = /,\s{0,5}(?=[a-z]{1,20} {1,5}[a-z]{1,20}\s{0,5}=)/i

/**
 * The challenge in a `www-authenticate` header with the strongest algorithm; undefined when there is none of these.
 * Several headers are joined by commas.
 */
export function digestChallengeOf(header: string | undefined): DigestChallenge | undefined {
  const challenges = (header ?? '').split(NEXT_SCHEME).flatMap((part) => challengeOf(part) ?? [])
  return ALGORITHMS.flatMap((name) => challenges.find(({ algorithm }) => algorithm === name) ?? [])[0]
}

function challengeOf(part: string): DigestChallenge | undefined {
  if (!/^\s{0,5}Digest\s/i.test(part)) return undefined
  const fields = new Map(
    [...part.matchAll(FIELD)].map(([, name = '', quoted, plain]) => [
      name.toLowerCase(),
      quoted === undefined ? plain : unquoted(quoted),
    ]),
  )
  const named = fields.get('algorithm')
  const algorithm = ALGORITHMS.find((name) => name === (named ?? 'MD5').replace(SESSION, '').toUpperCase())
  const [realm, nonce, offered] = [fields.get('realm'), fields.get('nonce'), fields.get('qop')]
  const qualities = offered?.split(/[\s,]+/).map((one) => one.toLowerCase())
  const quality = (['auth', 'auth-int'] as const).find((one) => qualities?.includes(one))
  const isKnownQuality = quality !== undefined || (offered ?? '').trim() === ''
  if (algorithm === undefined || realm === undefined || nonce === undefined || !isKnownQuality) return undefined
  const cnonce = randomBytes(8).toString('hex')
  const isSession = SESSION.test(named ?? '')
  return { realm, nonce, opaque: fields.get('opaque'), algorithm, named, isSession, quality, cnonce }
}

/** The `authorization` header that answers a challenge. */
export function digestAuthorization(challenge: DigestChallenge, request: DigestRequest): string {
  const { realm, nonce, opaque, algorithm, named, isSession, quality, cnonce } = challenge
  const { method, uri, user, password, body } = request
  const hash = (text: string) => createHash(HASHES[algorithm]).update(text).digest('hex')
  const count = request.count.toString(16).padStart(8, '0')
  const secret = hash(`${user}:${realm}:${password}`)
  const key = isSession ? hash(`${secret}:${nonce}:${cnonce}`) : secret
  const middle = quality ? [nonce, count, cnonce, quality] : [nonce]
  const signed = quality === 'auth-int' ? `${method}:${uri}:${hash(body)}` : `${method}:${uri}`
  const response = hash([key, ...middle, hash(signed)].join(':'))
  const given = {
    username: quoted(user),
    realm: quoted(realm),
    nonce: quoted(nonce),
    uri,
    response,
    ...((quality !== undefined || isSession) && { cnonce }),
    ...(opaque !== undefined && { opaque: quoted(opaque) }),
  }
  return `Digest ${[
    ...Object.entries(given).map(([name, value]) => `${name}="${value}"`),
    ...(named === undefined ? [] : [`algorithm=${named}`]),
    ...(quality ? [`qop=${quality}`, `nc=${count}`] : []),
  ].join(', ')}`
}

function quoted(text: string): string {
  return text.replaceAll(/["\\]/g, String.raw`\$&`)
}

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}
