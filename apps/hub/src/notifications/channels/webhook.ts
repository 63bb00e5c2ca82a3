import { createHmac } from 'node:crypto'
import { z } from 'zod'
import { callOut } from '../../http/outgoing-call.ts'
import { channelType, forPrograms, type ChannelParts } from '../channel.ts'

const ANSWER_TIMEOUT_MS = 10_000

export const channel = channelType({
  name: 'webhook',
  audience: 'operators',
  fields: {
    url: {
      variable: 'HUB_WEBHOOK_URL',
      kind: 'address',
      label: 'Address',
      help: 'Messages are posted there as JSON, signed.',
      schema: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }),
    },
    secret: {
      variable: 'HUB_WEBHOOK_SECRET',
      kind: 'secret',
      label: 'Key of the signature',
      help: '16 characters at least.',
      schema: z.string().min(16, 'must have at least 16 characters').max(1_024),
    },
  },
  open(settings, { clock, reach }) {
    const webhook = createWebhook({ ...settings, clock, reach })
    return {
      problem: () => undefined,
      async send(messages) {
        for (const message of messages) await webhook.send(message.id, forPrograms(message))
      },
      close: webhook.close,
    }
  },
  batch: 1,
  sendingsATurn: 50,
  pauseMs: 0,
  // An unavailable receiver gets only one attempt, not one for each message.
  goesOnAfterFailure: false,
  // The receiver recognizes a repeated message by its id.
  interrupted: 'waiting',
  taken: 'It was accepted.',
})

type Webhook = {
  /** Resolves once the receiver answered 2xx. `id` is the same at every attempt of one message. */
  send(id: string, message: object): Promise<void>
  /** Aborts current calls. */
  close(): void
}

/**
 * Posts JSON to the operator's own address, wherever that is; a redirect counts as a refusal. `X-Hedgerow-Signature` is
 * `sha256=` and the HMAC-SHA-256, in hexadecimal, of `X-Hedgerow-Timestamp` (seconds since 1970), a dot and the body.
 */
function createWebhook(options: { url: string; secret: string } & Pick<ChannelParts, 'clock' | 'reach'>): Webhook {
  const { url, secret, clock } = options
  const reach = options.reach(url)
  const closed = new AbortController()
  return {
    async send(id, message) {
      const body = JSON.stringify(message)
      const timestamp = String(Math.floor(clock() / 1_000))
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      const { status } = await callOut({
        url,
        onlyPublic: reach.onlyPublic,
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
        throw reach.unreached('The webhook', error)
      })
      if (status < 200 || status >= 300) throw new Error(`The webhook answered ${status}.`)
    },
    close: () => closed.abort(),
  }
}
