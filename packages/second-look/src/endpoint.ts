/** The call to a vision endpoint, with limits of time and bytes. */
import { parseAnswer, unsure, type Look } from './answer.ts'
import { requestFor, type Question } from './question.ts'

export type Endpoint = {
  /** Without `/v1`: `http://127.0.0.1:11434`. */
  url: string
  /** Sent as a bearer token. */
  key?: string | undefined
  model: string
}

export type EndpointAnswer = Look & {
  ms: number
  /** The endpoint asks for a pause: it is overloaded or unreachable. */
  retryAfterMs?: number
  /** The endpoint itself is at fault, not the picture. */
  isFault: boolean
}

const ANSWER_MAX_BYTES = 256 * 1024
const PAUSE_MS = 30_000
const PAUSE_MAX_MS = 3_600_000

/** Never rejects. */
export async function queryEndpoint(
  endpoint: Endpoint,
  question: Question,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<EndpointAnswer> {
  const startedAt = performance.now()
  const timeout = AbortSignal.timeout(timeoutMs)
  const found = await request(endpoint, question, AbortSignal.any([timeout, signal])).catch(() => {
    if (timeout.aborted) return fault(`No answer within ${Math.round(timeoutMs / 1_000)} s.`, undefined)
    return fault('The endpoint can not be reached.', PAUSE_MS)
  })
  return { ...found, ms: Math.round(performance.now() - startedAt) }
}

type Answered = Omit<EndpointAnswer, 'ms'>

const fault = (reason: string, retryAfterMs: number | undefined): Answered => ({
  ...unsure(reason),
  isFault: true,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

async function request({ url, key, model }: Endpoint, question: Question, signal: AbortSignal): Promise<Answered> {
  const response = await fetch(`${url.replace(/\/$/, '').replace(/\/v1$/, '')}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(requestFor(model, question)),
    // No redirects: the key and the picture go to nobody else.
    redirect: 'manual',
    signal,
  })
  if (!response.ok) {
    await response.body?.cancel()
    return refusal(response)
  }
  const bytes = await readAtMost(response)
  if (!bytes) return fault('The answer is too long.', undefined)
  try {
    return { ...parseAnswer(JSON.parse(bytes.toString())), isFault: false }
  } catch {
    return fault('The endpoint did not answer with JSON.', undefined)
  }
}

function refusal({ status, headers }: Response): Answered {
  if (status === 401 || status === 403) return fault('The endpoint refuses the key.', PAUSE_MS)
  if (status === 404) return fault('The endpoint does not know the model, or the address is wrong.', PAUSE_MS)
  if (status === 429 || status === 503) return fault('The endpoint has too much to do.', pauseOf(headers))
  return fault(`The endpoint answers with status ${status}.`, status >= 500 ? PAUSE_MS : undefined)
}

/** RFC 9110 §10.2.3: seconds, or a date. */
function pauseOf(headers: Headers): number {
  const pause = headers.get('retry-after') ?? ''
  const ms = /^\d{1,9}$/.test(pause) ? Number(pause) * 1_000 : Date.parse(pause) - Date.now()
  return Number.isFinite(ms) ? Math.min(PAUSE_MAX_MS, Math.max(1_000, ms)) : PAUSE_MS
}

async function readAtMost(response: Response): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > ANSWER_MAX_BYTES) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
