/**
 * Makes the contract's calls. All answers pass through here, so it also notices an ended session. Answers are not
 * validated: they come from our own hub, which sends only what the contract declares.
 */
import { callAddress } from '@hedgerow/contract/call'
import { API_BASE } from '@hedgerow/contract/constants'
import type { Call, ErrorBody, InputOf, ResponseOf } from '@hedgerow/contract'
import { createRedirectGate, endsSession, SESSION_EXPIRED_MESSAGE } from './session-rule.ts'
import { clearToken, readToken, writeExpiredMessage, writeToken } from './token.ts'
import { wordsOf } from './words.ts'

/** A refusal by the hub, or no answer (`status` 0, `code` 'unreachable'). `message` is for the person. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fieldErrors: Readonly<Record<string, string>>
  /** When the call may be repeated, if the hub said so. */
  readonly retryAfterMs: number | undefined
  /** The answer's body: parsed if it is JSON, otherwise text; undefined without an answer. */
  readonly body: unknown

  constructor(
    status: number,
    code: string,
    message: string,
    {
      fieldErrors = {},
      retryAfterMs,
      body,
    }: {
      fieldErrors?: Readonly<Record<string, string>> | undefined
      retryAfterMs?: number | undefined
      body?: unknown
    } = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.fieldErrors = fieldErrors
    this.retryAfterMs = retryAfterMs
    this.body = body
  }
}

type RequestOf<C extends Call> = InputOf<C> & { signal?: AbortSignal }

type SessionListener = {
  onEnded: () => void
  /** The hub now requires two-factor, and this person has none. */
  onSetUpRequired: () => void
}
const NOBODY: SessionListener = { onEnded: () => undefined, onSetUpRequired: () => undefined }

/**
 * A working hub answers long before this. Without a limit, a hanging hub would keep people waiting for minutes.
 */
const ANSWER_WITHIN_MS = 30_000

const mayRedirect = createRedirectGate(() => performance.now())
let sessionListener = NOBODY
let replacing: Promise<unknown> | undefined

/** The session provider listens here; there is one session per page. */
export function listenToSession(listener: SessionListener): () => void {
  sessionListener = listener
  return () => {
    sessionListener = NOBODY
  }
}

/**
 * Makes a call that ends this session and opens another. Polls that are refused in the meantime are judged afterwards:
 * the session has ended only if there is no new token.
 */
export async function replaceToken(work: () => Promise<{ accessToken: string }>): Promise<void> {
  const replacement = work().then(({ accessToken }) => writeToken(accessToken))
  replacing = replacement
  try {
    await replacement
  } finally {
    if (replacing === replacement) replacing = undefined
  }
}

/** Throws ApiError; an aborted call rejects with the signal's reason. */
export async function api<C extends Call>(call: C, request: RequestOf<C>): Promise<ResponseOf<C>> {
  const response = await send(call, request, call.media)
  if (call.media !== undefined) return new Uint8Array(await response.arrayBuffer()) as ResponseOf<C>
  if (call.response === null) return undefined as ResponseOf<C>
  try {
    return (await response.json()) as ResponseOf<C>
  } catch (error) {
    throw lost(error, request.signal)
  }
}

/** Opens a call that answers with a stream of server-sent events. It fails like any other call. */
export async function openStream(call: Call, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { body } = await send(call, { signal }, 'text/event-stream')
  if (body === null) throw new ApiError(0, 'unreachable', 'The hub answered without a stream.')
  return body
}

type Request = {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  /** A range of bytes, in the form of the header. */
  range?: string
  signal?: AbortSignal
}

/** The raw response, for calls whose headers or bytes matter. */
export async function send(
  call: Call,
  { params, query, body, range, signal }: Request,
  accept = 'application/json',
): Promise<Response> {
  const token = readToken()
  const headers: Record<string, string> = { accept }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (range !== undefined) headers['range'] = range
  if (token !== null) headers['authorization'] = `Bearer ${token}`

  let response: Response
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ANSWER_WITHIN_MS)
  try {
    response = await fetch(callAddress(API_BASE, call, params, query), {
      method: call.method,
      headers,
      credentials: 'omit',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    })
  } catch (error) {
    throw lost(error, signal)
  } finally {
    clearTimeout(timer)
  }
  if (response.ok) return response
  const refusal = await refusalOf(response)
  if (replacing === undefined) judge(refusal, token)
  else void replacing.catch(() => undefined).then(() => judge(refusal, token))
  throw refusal
}

/** The error for a missing or incomplete answer. An aborted call keeps its reason. */
function lost(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return error
  return new ApiError(0, 'unreachable', 'The hub does not answer. Check your connection and try again.')
}

/**
 * Ends the session if the refusal calls for it. A refusal of an older token does not affect the session.
 */
function judge({ status, code }: ApiError, token: string | null): void {
  if (token !== readToken()) return
  if (code === 'two_factor_setup_required') sessionListener.onSetUpRequired()
  else if (endsSession({ status, error: code, path: location.pathname })) endSession()
}

function endSession(): void {
  if (!mayRedirect()) return
  clearToken()
  writeExpiredMessage(SESSION_EXPIRED_MESSAGE)
  sessionListener.onEnded()
}

async function refusalOf(response: Response): Promise<ApiError> {
  const body = bodyOf(await response.text().catch(() => ''))
  if (isErrorBody(body)) {
    const { error, message, fieldErrors } = body
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
    const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined
    return new ApiError(response.status, error, message, { fieldErrors, retryAfterMs, body })
  }
  // Most likely the answer of a proxy in front of the hub.
  const words = wordsOf(body) ?? `The hub answered with status ${response.status}. Try again in a moment.`
  return new ApiError(response.status, 'unknown', words, { body })
}

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  if (typeof body !== 'object' || body === null) return false
  return 'error' in body && typeof body.error === 'string' && 'message' in body && typeof body.message === 'string'
}

/** The message of any thrown value, for a person. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong. Try again.'
}

export const isForbidden = (error: unknown): boolean => error instanceof ApiError && error.code === 'role_required'
