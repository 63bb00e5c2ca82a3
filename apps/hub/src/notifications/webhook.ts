import { createHmac } from 'node:crypto'
import { callOut } from '../http/outgoing-call.ts'

const ANSWER_TIMEOUT_MS = 10_000

export type Webhook = {
  /** Resolves once the receiver answered 2xx. `id` is the same at every attempt of one message. */
  send(id: string, message: object): Promise<void>
  /** Breaks off what is under way. */
  close(): void
}

/**
 * Posts JSON to the operator's own address, wherever that is; a redirect is a refusal. `X-Hedgerow-Signature` is
 * `sha256=` and the HMAC-SHA-256, in hexadecimal, of `X-Hedgerow-Timestamp` (seconds since 1970), a dot and the body.
 */
export function createWebhook(options: { url: string; secret: string; clock: () => number }): Webhook {
  const { url, secret, clock } = options
  const closed = new AbortController()
  return {
    async send(id, message) {
      const body = JSON.stringify(message)
      const timestamp = String(Math.floor(clock() / 1_000))
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      const { status } = await callOut({
        url,
        method: 'POST',
        body,
        signal: closed.signal,
        timeoutMs: ANSWER_TIMEOUT_MS,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'hedgerow-hub',
          'x-hedgerow-delivery': id,
          'x-hedgerow-timestamp': timestamp,
          'x-hedgerow-signature': `sha256=${signature}`,
        },
      }).catch((error: unknown) => {
        throw new Error(`The webhook could not be reached: ${reasonOf(error)}`, { cause: error })
      })
      if (status < 200 || status >= 300) throw new Error(`The webhook answered ${status}.`)
    },
    close: () => closed.abort(),
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code ?? error.message
}
