import { z } from 'zod'
import { channelType } from '../channel.ts'
import { createPoster } from '../poster.ts'
import { WORDS } from '../words.ts'

const TITLE_MAX = 250
const TEXT_MAX = 1_024
/** An emergency is repeated every `retry` seconds until somebody acknowledges it, at most for `expire`. */
const EMERGENCY = { priority: 2, retry: 60, expire: 3_600 }

/** Pushover (https://pushover.net/api). An alert is an emergency where HUB_PUSHOVER_EMERGENCY is on. */
export const channel = channelType({
  name: 'pushover',
  audience: 'operators',
  fields: {
    token: {
      variable: 'HUB_PUSHOVER_TOKEN',
      kind: 'secret',
      label: 'Application token',
      schema: z.string().regex(/^\w{20,50}$/, 'must be the token of an application'),
    },
    user: {
      variable: 'HUB_PUSHOVER_USER',
      kind: 'secret',
      label: 'User or group key',
      schema: z.string().regex(/^\w{20,50}$/, 'must be the key of a user or a group'),
    },
    emergency: {
      variable: 'HUB_PUSHOVER_EMERGENCY',
      kind: 'choice',
      label: 'Emergency',
      help: 'When on, alerts repeat every minute, for an hour, until somebody acknowledges them.',
      schema: z.enum(['on', 'off']),
      choices: ['off', 'on'],
      default: 'off',
    },
    url: {
      variable: 'HUB_PUSHOVER_URL',
      kind: 'address',
      label: 'Server',
      help: 'One that answers as Pushover does.',
      schema: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }),
      default: 'https://api.pushover.net',
    },
  },
  open({ url: server, token, user, emergency }, { reach }) {
    const poster = createPoster('Pushover', reach)
    const address = `${server.replace(/\/$/, '')}/1/messages.json`
    return {
      problem: () => undefined,
      async send(messages) {
        for (const { title, text, url, picture, event, acknowledge, language } of messages)
          await poster.post(address, {
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({
              token,
              user,
              title: title.slice(0, TITLE_MAX),
              message: withLink(text, acknowledge && `${WORDS[language].acknowledge}: ${acknowledge.page}`),
              ...(url !== undefined && { url, url_title: WORDS[language].openInHub }),
              ...(event === 'incident.alert' && (emergency === 'on' ? EMERGENCY : { priority: 1 })),
              ...(picture && { attachment_base64: picture.toString('base64'), attachment_type: 'image/jpeg' }),
            }),
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
  taken: 'Pushover took it.',
})

/** The link stays whole however long the text is. */
function withLink(text: string, link: string | undefined): string {
  const line = link === undefined ? '' : `\n${link}`
  return text.slice(0, TEXT_MAX - line.length) + line
}
