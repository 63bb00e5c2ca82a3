/** The hub as a client of one OpenID provider: what it asks there, and which answers it believes. */
import { createRemoteJWKSet, customFetch as joseFetch, decodeProtectedHeader, jwtVerify, type JWTPayload } from 'jose'
import * as client from 'openid-client'
import type { Logger } from 'pino'
import type { ProviderSettings } from '../config.ts'
import { callOut } from '../http/outgoing-call.ts'
import { HubError } from '../kernel/hub-error.ts'

/** Signatures with keys that only the provider has: never `none`, and no HS256, whose key is the client's secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const CALL_TIMEOUT_MS = 10_000
const ANSWER_LIMIT_BYTES = 1024 * 1024
/** The provider's description of itself is read again after this. */
const FRESH_MS = 60 * 60_000
/** So that people who press the button again and again are no load for a provider that fails. */
const FAILED_MS = 5_000
const CLOCK_TOLERANCE_S = 120
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** What the hub keeps of a sign-in that has begun. */
export type Begun = { state: string; nonce: string; verifier: string }

export type ProviderPerson = {
  subject: string
  /** The session there. */
  session: string | undefined
  idToken: string
  groups: string[]
  username: string
  email: string
  firstName: string
  lastName: string
}

export type Provider = {
  settings: ProviderSettings
  /** Throws `provider_unavailable`, as all of these. */
  begin(): Promise<Begun & { url: string }>
  /** Throws `provider_answer_refused`. `answer` is the query of the address to which the browser came back. */
  exchange(answer: string, begun: Begun): Promise<ProviderPerson>
  /** Where a person ends the session at the provider; undefined when it has no such page. */
  logoutUrl(idToken: string): Promise<string | undefined>
  /** Throws `logout_token_invalid`. */
  readLogoutToken(
    token: string,
  ): Promise<{ id: string; untilMs: number; subject: string | undefined; session: string | undefined }>
}

export function createProvider({
  settings,
  publicUrl,
  clock,
  log,
}: {
  settings: ProviderSettings
  publicUrl: string
  clock: () => number
  log: Logger
}): Provider {
  const redirectUri = `${publicUrl}/login/${settings.id}`
  let discovered: { at: number; config: Promise<client.Configuration>; hasFailed: boolean } | undefined
  let keys: { uri: string; find: ReturnType<typeof createRemoteJWKSet> } | undefined

  function discover(): Promise<client.Configuration> {
    const now = clock()
    const freshMs = discovered?.hasFailed ? FAILED_MS : FRESH_MS
    if (discovered && Math.abs(now - discovered.at) < freshMs) return discovered.config
    const entry = { at: now, config: readConfiguration(settings), hasFailed: false }
    entry.config = entry.config.catch((error: unknown) => {
      entry.hasFailed = true
      log.warn({ provider: settings.name, err: error }, 'the sign-in provider could not be read')
      throw new HubError('provider_unavailable', { cause: error })
    })
    discovered = entry
    return entry.config
  }

  /** A provider that answers wrongly is told from one that does not answer. */
  async function judged<T>(code: 'provider_answer_refused' | 'logout_token_invalid', work: () => Promise<T>) {
    try {
      return await work()
    } catch (error) {
      log.warn({ provider: settings.name, reason: reasonOf(error) }, 'an answer of the sign-in provider was refused')
      for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof HubError) throw cause
      throw new HubError(code, { cause: error })
    }
  }

  function keysOf(uri: string) {
    if (keys?.uri !== uri) keys = { uri, find: createRemoteJWKSet(new URL(uri), { [joseFetch]: fetchOnce }) }
    return keys.find
  }

  return {
    settings,

    async begin() {
      const config = await discover()
      const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()]
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { state, nonce, verifier, url: url.href }
    },

    async exchange(answer, { state, nonce, verifier }) {
      const config = await discover()
      return judged('provider_answer_refused', async () => {
        const back = new URL(redirectUri)
        back.search = answer
        const tokens = await client.authorizationCodeGrant(config, back, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const { id_token: idToken = '', access_token: accessToken } = tokens
        const claims = tokens.claims()
        if (!claims || !ALGORITHMS.includes(decodeProtectedHeader(idToken).alg ?? ''))
          throw new Error('the ID token is not signed with a key of the provider')
        refuseTimes(claims, Math.floor(clock() / 1_000))
        const hasMore = config.serverMetadata().userinfo_endpoint !== undefined
        const more = hasMore ? await client.fetchUserInfo(config, accessToken, claims.sub) : {}
        return personOf({ ...more, ...claims }, idToken, settings)
      })
    },

    async logoutUrl(idToken) {
      const config = await discover()
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined
      const after = { id_token_hint: idToken, post_logout_redirect_uri: `${publicUrl}/login` }
      return client.buildEndSessionUrl(config, after).href
    },

    async readLogoutToken(token) {
      const { jwks_uri: uri, issuer } = (await discover()).serverMetadata()
      return judged('logout_token_invalid', async () => {
        const { payload } = await jwtVerify(token, keysOf(uri ?? ''), {
          algorithms: ALGORITHMS,
          issuer,
          audience: settings.clientId,
          currentDate: new Date(clock()),
          clockTolerance: CLOCK_TOLERANCE_S,
          maxTokenAge: CLOCK_TOLERANCE_S,
          requiredClaims: ['jti', 'events'],
        })
        const { events, nonce, sub: subject, sid, jti, iat } = payload
        const session = typeof sid === 'string' ? sid : undefined
        if (!Object.hasOwn(Object(events) as object, LOGOUT_EVENT) || nonce !== undefined || !(subject ?? session))
          throw new Error('this is no logout token')
        return { id: String(jti), untilMs: (iat! + 2 * CLOCK_TOLERANCE_S) * 1_000, subject, session }
      })
    },
  }
}

async function readConfiguration({ issuer, clientId, clientSecret: secret }: ProviderSettings) {
  const isPlain = issuer.startsWith('http:')
  const authenticate: client.ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    if (secret === undefined) return client.None()(server, ...rest)
    const inHeader = methods.includes('client_secret_basic')
    return (inHeader ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret))(server, ...rest)
  }
  return client.discovery(new URL(issuer), clientId, { [client.clockTolerance]: CLOCK_TOLERANCE_S }, authenticate, {
    [client.customFetch]: fetchOnce,
    timeout: CALL_TIMEOUT_MS / 1_000,
    execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
  })
}

/** `fetch` with the limits of the hub's calls. */
async function fetchOnce(
  url: string,
  { method, headers, body, signal }: { method: string; headers: unknown; body?: unknown; signal?: AbortSignal },
): Promise<Response> {
  try {
    const answer = await callOut({
      url,
      method: method === 'POST' ? 'POST' : 'GET',
      headers: Object.fromEntries(new Headers(headers as Record<string, string>)),
      ...(body !== undefined && body !== null && { body: String(body) }),
      ...(signal && { signal }),
      timeoutMs: CALL_TIMEOUT_MS,
      answerLimitBytes: ANSWER_LIMIT_BYTES,
    })
    const type = answer.headers['content-type']
    return new Response(new Uint8Array(answer.body), {
      status: answer.status,
      headers: type === undefined ? {} : { 'content-type': type },
    })
  } catch (error) {
    throw new HubError('provider_unavailable', { cause: error })
  }
}

/** By the hub's clock; the library looks at the machine's, and not whether the token is from the future. */
function refuseTimes({ exp, iat }: { exp: number; iat: number }, now: number): void {
  if (exp <= now - CLOCK_TOLERANCE_S) throw new Error('the ID token has expired')
  if (iat > now + CLOCK_TOLERANCE_S) throw new Error('the ID token is from the future')
}

function personOf(claims: JWTPayload, idToken: string, { groupsClaim }: ProviderSettings): ProviderPerson {
  const text = (name: string) => (typeof claims[name] === 'string' ? (claims[name] as string).trim() : '')
  const groups = claims[groupsClaim]
  const [firstOfName = '', ...restOfName] = text('name').split(' ')
  return {
    subject: claims.sub ?? '',
    session: text('sid') || undefined,
    idToken,
    groups: [groups].flat().filter((group) => typeof group === 'string'),
    username: text('preferred_username'),
    email: claims['email_verified'] === false ? '' : text('email'),
    firstName: text('given_name') || firstOfName,
    lastName: text('family_name') || restOfName.join(' '),
  }
}

/** Without the token or the code that it is about. */
function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (let cause = error; cause instanceof Error; cause = cause.cause) reasons.push(cause.message)
  return reasons.join(': ')
}
