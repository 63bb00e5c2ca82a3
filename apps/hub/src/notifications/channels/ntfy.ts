import type { Language } from '@hedgerow/contract'
import { z } from 'zod'
import { channelType, type Acknowledge } from '../channel.ts'
import { createPoster } from '../poster.ts'
import { WORDS } from '../words.ts'

/**
 * ntfy (https://docs.ntfy.sh/publish/): a message is a POST to the topic with its fields in headers; a picture is the
 * body, and the text then a header.
 */
export const channel = channelType({
  name: 'ntfy',
  audience: 'operators',
  variables: {
    /** The topic's address, such as https://ntfy.sh/a-name-nobody-guesses. */
    HUB_NTFY_URL: z
      .url({ protocol: /^https?$/, error: 'must be the http:// or https:// address of a topic' })
      .optional(),
    HUB_NTFY_TOKEN: z.string().min(1).max(500).optional(),
  },
  configure({ HUB_NTFY_URL: url, HUB_NTFY_TOKEN: token }) {
    if (url === undefined) return undefined
    return { url: String(url), token: token === undefined ? undefined : String(token) }
  },
  open({ url, token }) {
    const poster = createPoster('ntfy')
    return {
      problem: () => undefined,
      async send(messages) {
        for (const { title, text, url: click, picture, event, acknowledge, language } of messages)
          await poster.post(url, {
            headers: {
              title: encoded(title),
              priority: event === 'incident.alert' ? '5' : '3',
              ...(click !== undefined && { click }),
              ...(acknowledge && { actions: actionsOf(acknowledge, language) }),
              ...(token !== undefined && { authorization: `Bearer ${token}` }),
              ...(picture ? { filename: 'picture.jpg', message: encoded(text.replaceAll('\n', ' · ')) } : {}),
            },
            body: picture ?? text,
          })
      },
      close: poster.close,
    }
  },
  batch: 1,
  sendingsATurn: 20,
  pauseMs: 0,
  goesOnAfterFailure: false,
  interrupted: 'failed',
  unset: 'HUB_NTFY_URL is not set.',
  taken: 'The ntfy server took it.',
})

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

/** Encodes a text that a header cannot hold (RFC 2047 §2, base64). */
function encoded(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`
}
