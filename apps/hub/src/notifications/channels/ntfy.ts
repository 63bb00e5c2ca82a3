import type { Language } from '@hedgerow/contract'
import { z } from 'zod'
import { channelType, type Acknowledge, type Message } from '../channel.ts'
import { encodedWord, isSafeInHeader } from '../encoded-words.ts'
import { createPoster, Refused } from '../poster.ts'
import { WORDS } from '../words.ts'

/**
 * ntfy (https://docs.ntfy.sh/publish/): a message is a POST to the topic with its fields in headers; a picture is the
 * body, and the text then a header. As installed, a server takes no pictures (server.go:1147, `attachment-cache-dir`),
 * and the message goes without it.
 */
export const channel = channelType({
  name: 'ntfy',
  audience: 'operators',
  fields: {
    url: {
      variable: 'HUB_NTFY_URL',
      kind: 'address',
      label: 'Topic',
      help: 'Its address, such as https://ntfy.sh/a-name-nobody-guesses: whoever knows it reads the messages.',
      schema: z.url({ protocol: /^https?$/, error: 'must be the http:// or https:// address of a topic' }),
    },
    token: {
      variable: 'HUB_NTFY_TOKEN',
      kind: 'secret',
      label: 'Access token',
      schema: z.string().min(1).max(500),
      isOptional: true,
    },
  },
  open({ url, token }, { reach }) {
    const poster = createPoster('ntfy', reach)

    const post = ({ title, text, url: click, event, acknowledge, language }: Message, picture: Buffer | undefined) =>
      poster.post(url, {
        headers: {
          title: encoded(title),
          priority: event === 'incident.alert' ? '5' : '3',
          ...(click !== undefined && { click }),
          ...(acknowledge && { actions: actionsOf(acknowledge, language) }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(picture && { filename: 'picture.jpg', message: encoded(text.replaceAll('\n', ' · ')) }),
        },
        body: picture ?? cut(text),
      })

    return {
      problem: () => undefined,
      async send(messages) {
        let leftOut: string | undefined
        for (const message of messages) {
          try {
            await post(message, message.picture)
          } catch (error) {
            if (!message.picture || isAboutSender(error)) throw error
            await post(message, undefined)
            leftOut = `The ntfy server took it without the picture: ${(error as Error).message}`
          }
        }
        return leftOut
      },
      close: poster.close,
    }
  },
  batch: 1,
  sendingsATurn: 20,
  pauseMs: 0,
  goesOnAfterFailure: false,
  interrupted: 'failed',
  taken: 'The ntfy server took it.',
})

/** A server takes a longer text for a file (server.go:1071; `message-size-limit`, 4,096 bytes). */
const TEXT_MAX_BYTES = 4_000

/** Without the picture the answer would be the same: a wrong token, or too many messages. */
function isAboutSender(error: unknown): boolean {
  return error instanceof Refused && [401, 403, 429].includes(error.status)
}

function cut(text: string): string {
  const bytes = Buffer.from(text)
  // A stream's decoder leaves out a last character that is cut in two.
  return new TextDecoder().decode(bytes.subarray(0, TEXT_MAX_BYTES), { stream: bytes.length > TEXT_MAX_BYTES })
}

/** A button in the app that makes the call itself; a browser may not, and opens the page (`view`). */
function actionsOf({ page, call, token }: Acknowledge, language: Language): string {
  const words = WORDS[language]
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ token })
  const actions = JSON.stringify([
    { action: 'http', label: words.acknowledge, url: call, method: 'POST', headers, body, clear: true },
    { action: 'view', label: words.acknowledgeInBrowser, url: page },
  ])
  // The header holds JSON in ASCII.
  return actions.replaceAll(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const encoded = (text: string): string => (isSafeInHeader(text) ? text : encodedWord(text))
