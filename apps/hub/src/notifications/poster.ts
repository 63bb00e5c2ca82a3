import { randomUUID } from 'node:crypto'
import { callOut } from '../http/outgoing-call.ts'

const ANSWER_TIMEOUT_MS = 20_000
const ANSWER_MAX_BYTES = 64 * 1024

type Parts = { headers: Record<string, string>; body: string | Buffer }

/** The messenger's answer, when it is not 2xx. */
export class Refused extends Error {
  override name = 'Refused'
  readonly status: number
  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** Posts to a messenger. Errors name it and its answer, and never the address, which may hold a secret. */
export function createPoster(name: string) {
  const closed = new AbortController()
  return {
    async post(url: string, { headers, body }: Parts): Promise<void> {
      const { status, body: answer } = await callOut({
        url,
        method: 'POST',
        headers: { 'user-agent': 'hedgerow-hub', ...headers },
        body,
        timeoutMs: ANSWER_TIMEOUT_MS,
        signal: closed.signal,
        answerLimitBytes: ANSWER_MAX_BYTES,
      }).catch((error: unknown) => {
        throw new Error(`${name} could not be reached: ${reasonOf(error)}`, { cause: error })
      })
      if (status >= 200 && status < 300) return
      throw new Refused(`${name} answered ${status}${wordsOf(answer)}`, status)
    },
    /** Aborts current calls. */
    close: () => closed.abort(),
  }
}

/** A multipart form (RFC 7578) with one picture. */
export function multipart(fields: Record<string, string>, { name, jpeg }: { name: string; jpeg: Buffer }): Parts {
  const boundary = randomUUID()
  const field = ([key, value]: [string, string]) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`
  const file =
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="picture.jpg"\r\ncontent-type: ` +
    `image/jpeg\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(Object.entries(fields).map(field).join('') + file),
    jpeg,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` }, body }
}

/** The error message of Telegram (`description`), Pushover (`errors`) or ntfy (`error`). */
function wordsOf(answer: Buffer): string {
  try {
    const failure = JSON.parse(answer.toString('utf8')) as { description?: unknown; error?: unknown; errors?: unknown }
    const words =
      failure.description ?? failure.error ?? (Array.isArray(failure.errors) ? failure.errors[0] : undefined)
    return typeof words === 'string' ? `: ${words.slice(0, 200)}` : '.'
  } catch {
    return '.'
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code ?? error.message
}
