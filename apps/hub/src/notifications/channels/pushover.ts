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
  variables: {
    HUB_PUSHOVER_TOKEN: z
      .string()
      .regex(/^\w{20,50}$/, 'must be the token of an application')
      .optional(),
    HUB_PUSHOVER_USER: z
      .string()
      .regex(/^\w{20,50}$/, 'must be the key of a user or a group')
      .optional(),
    HUB_PUSHOVER_EMERGENCY: z.enum(['on', 'off']).optional(),
    HUB_PUSHOVER_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  },
  configure({
    HUB_PUSHOVER_TOKEN: token,
    HUB_PUSHOVER_USER: user,
    HUB_PUSHOVER_EMERGENCY: emergency,
    HUB_PUSHOVER_URL: url,
  }) {
    if (token === undefined) return undefined
    if (user === undefined) throw new Error('HUB_PUSHOVER_USER is not set, though HUB_PUSHOVER_TOKEN is')
    return {
      url: `${String(url ?? 'https://api.pushover.net').replace(/\/$/, '')}/1/messages.json`,
      token: String(token),
      user: String(user),
      isEmergency: emergency === 'on',
    }
  },
  open({ url: address, token, user, isEmergency }) {
    const poster = createPoster('Pushover')
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
              ...(event === 'incident.alert' && (isEmergency ? EMERGENCY : { priority: 1 })),
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
  unset: 'HUB_PUSHOVER_TOKEN is not set.',
  taken: 'Pushover took it.',
})

/** The link stays whole however long the text is. */
function withLink(text: string, link: string | undefined): string {
  const line = link === undefined ? '' : `\n${link}`
  return text.slice(0, TEXT_MAX - line.length) + line
}
