import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatheredBytes } from '@hedgerow/http'
import { inWords } from '../../kernel/failure.ts'
import { openFrigateTls } from './connection.ts'
import { FrigateError, noAnswer, refusal, wrongPassword } from './failure.ts'
import { MESSAGE_BYTES_MAX } from './messages.ts'
import { identityHeaders } from './roles.ts'
import type { FrigateSettings } from './schema.ts'

type ReadOptions = { signal: AbortSignal; maxBytes?: number }

/** HTTP to Frigate, signed in with the settings of gateway.yaml. All calls reject with FrigateError. */
export type FrigateClient = {
  readonly url: URL
  /** The bytes of an answer 200, at most `maxBytes` (1 MiB when left out). `path` is absolute, such as `/api/stats`. */
  read(path: string, options: ReadOptions): Promise<Buffer>
  /** The same with the answer's headers. */
  readWhole(path: string, options: ReadOptions): Promise<{ bytes: Buffer; headers: IncomingHttpHeaders }>
  /** An answer 200. The caller must read its body or destroy it. */
  open(path: string, options: { signal: AbortSignal }): Promise<IncomingMessage>
  /** The headers that authenticate a WebSocket, and the function that opens its connection. */
  forWebSocket(signal: AbortSignal): Promise<{ headers: Record<string, string>; connection: Duplex | undefined }>
  /** Call it when Frigate refused the session: the next call signs in again. */
  dropSession(): void
  /** Seconds since 1970 by Frigate's clock, from its last answer (RFC 9110 §6.6.1). */
  now(): number
}

/** The time from the first byte sent to the head of the answer; Frigate assembles a clip before it answers. */
const HEAD_TIMEOUT_MS = 30_000
/** The longest time between two pieces of a body. */
const SILENCE_MS = 30_000
/** The pause after a refused sign-in: Frigate limits attempts. */
const SIGN_IN_PAUSE_MS = 60_000
/** The agent's own user and role, for a Frigate that trusts the gateway as its proxy. */
const AGENT = { user: 'hedgerow-gateway', role: 'viewer' }

export function createFrigateClient(settings: FrigateSettings, clock: () => number): FrigateClient {
  const url = new URL(settings.url)
  const { user, password } = settings
  /** Calls that arrive during a sign-in wait for the same session. */
  let session: Promise<string | undefined> | undefined
  let refusedSignIn: { error: FrigateError; at: number } | undefined
  let clockOffsetMs = 0

  async function headers(signal: AbortSignal): Promise<Record<string, string>> {
    const proxy = identityHeaders(settings, AGENT)
    if (user === undefined || password === undefined) return proxy
    if (refusedSignIn && clock() - refusedSignIn.at < SIGN_IN_PAUSE_MS) throw refusedSignIn.error
    session ??= signIn({ user, password }, signal)
    try {
      const token = await session
      return token === undefined ? proxy : { ...proxy, authorization: `Bearer ${token}` }
    } catch (error) {
      session = undefined
      if (error instanceof FrigateError && error.status !== undefined) refusedSignIn = { error, at: clock() }
      throw error
    }
  }

  /**
   * Frigate sends the session as a cookie with a configurable name. As a bearer token, the session needs no name.
   * Undefined where sign-in is switched off: then there is none, and none is needed.
   */
  async function signIn(
    credentials: { user: string; password: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const body = Buffer.from(JSON.stringify(credentials))
    const answer = await send('POST', '/api/login', { ...identityHeaders(settings, AGENT) }, signal, body)
    answer.destroy()
    if (answer.statusCode === 401) throw wrongPassword()
    if (answer.statusCode === 404) return undefined
    if (answer.statusCode !== 200) throw refusal(answer.statusCode ?? 0, settings)
    const token = sessionOf(answer.headers)
    if (token === undefined) throw new FrigateError('Frigate gave no session: is sign-in switched on there?')
    return token
  }

  const openConnection = async (signal: AbortSignal): Promise<Duplex | undefined> =>
    url.protocol === 'https:' ? openFrigateTls(url, settings, signal) : undefined

  async function send(
    method: string,
    path: string,
    given: Record<string, string>,
    signal: AbortSignal,
    body?: Buffer,
  ): Promise<IncomingMessage> {
    const late = AbortSignal.timeout(HEAD_TIMEOUT_MS)
    const head = AbortSignal.any([signal, late])
    try {
      const connection = await openConnection(head)
      return await exchange(method, path, given, head, signal, body, connection)
    } catch (error) {
      if (error instanceof FrigateError) throw error
      throw noAnswer(late.aborted ? `nothing within ${HEAD_TIMEOUT_MS / 1_000} s` : inWords(error))
    }
  }

  function exchange(
    method: string,
    path: string,
    given: Record<string, string>,
    head: AbortSignal,
    signal: AbortSignal,
    body: Buffer | undefined,
    connection: Duplex | undefined,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest({
        host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
        port: url.port || (url.protocol === 'https:' ? 443 : 80),
        method,
        path,
        headers: {
          host: url.host,
          connection: 'close',
          // Frigate's nginx keeps answers for 5 s: the items of the moment would be missing.
          'x-cache-bypass': '1',
          ...(body && { 'content-type': 'application/json', 'content-length': String(body.length) }),
          ...given,
        },
        ...(connection ? { createConnection: () => connection } : { agent: false }),
      })
      const abort = () => void outgoing.destroy(head.reason as Error)
      const abortBody = () => void outgoing.destroy(signal.reason as Error)
      const settle = () => head.removeEventListener('abort', abort)
      outgoing.setTimeout(SILENCE_MS, () => outgoing.destroy(new Error(`it sent nothing for ${SILENCE_MS / 1_000} s`)))
      outgoing.on('error', (error) => {
        settle()
        reject(error)
      })
      outgoing.on('close', () => {
        settle()
        signal.removeEventListener('abort', abortBody)
        reject(new Error('its answer is incomplete'))
      })
      outgoing.on('response', (answer) => {
        settle()
        const answeredAt = Date.parse(answer.headers.date ?? '')
        if (!Number.isNaN(answeredAt)) clockOffsetMs = answeredAt - clock()
        // The reader of the body gets the error; an answer without a reader must not end the process.
        answer.on('error', () => {})
        signal.addEventListener('abort', abortBody, { once: true })
        resolve(answer)
      })
      if (head.aborted) abort()
      else head.addEventListener('abort', abort, { once: true })
      outgoing.end(body)
    })
  }

  /** A session may have ended meanwhile (some versions end it at each restart), so it is renewed once. */
  async function open(path: string, { signal }: { signal: AbortSignal }): Promise<IncomingMessage> {
    for (const isLast of [false, true]) {
      const used = session
      const answer = await send('GET', path, await headers(signal), signal)
      if (answer.statusCode === 200) return answer
      answer.destroy()
      const hasSession = (await session) !== undefined
      if (answer.statusCode !== 401 || !hasSession || isLast)
        throw refusal(answer.statusCode ?? 0, { ...settings, hasSession })
      // This call signed in just now, so another session would be refused too.
      if (used === undefined) throw refusal(401, { ...settings, hasSession })
      if (session === used) session = undefined
    }
    throw new Error('unreachable')
  }

  async function readWhole(path: string, { signal, maxBytes = MESSAGE_BYTES_MAX }: ReadOptions) {
    const answer = await open(path, { signal })
    const body = new GatheredBytes()
    try {
      for await (const part of answer as AsyncIterable<Buffer>) {
        body.add(part)
        if (body.length > maxBytes) throw new FrigateError(`Frigate's answer to ${plainPath(path)} is too long.`)
      }
    } catch (error) {
      answer.destroy()
      throw error instanceof FrigateError ? error : noAnswer(inWords(error))
    }
    return { bytes: body.take(), headers: answer.headers }
  }

  return {
    url,
    open,
    readWhole,
    read: async (path, options) => (await readWhole(path, options)).bytes,
    async forWebSocket(signal) {
      try {
        return { headers: await headers(signal), connection: await openConnection(signal) }
      } catch (error) {
        throw error instanceof FrigateError ? error : noAnswer(inWords(error))
      }
    },
    dropSession: () => (session = undefined),
    now: () => (clock() + clockOffsetMs) / 1_000,
  }
}

/** The value of the first cookie that is a signed token (RFC 7519 §3.1). */
function sessionOf({ 'set-cookie': cookies = [] }: IncomingHttpHeaders): string | undefined {
  for (const cookie of cookies) {
    const value = /^[^=;]{1,100}=([\w-]+\.[\w-]+\.[\w-]+)(?:;|$)/.exec(cookie.slice(0, 4_096))?.[1]
    if (value !== undefined) return value
  }
  return undefined
}

function plainPath(path: string): string {
  return path.split('?', 1)[0]!
}
