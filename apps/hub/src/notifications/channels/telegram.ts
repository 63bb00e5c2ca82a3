import { z } from 'zod'
import { channelType, type Message } from '../channel.ts'
import { createPoster, multipart } from '../poster.ts'
import { WORDS } from '../words.ts'
import { textOf } from './email.ts'

/** A caption takes 1,024 characters, a message 4,096 (https://core.telegram.org/bots/api#sendphoto). */
const CAPTION_MAX = 1_000
const TEXT_MAX = 4_000

/** A Telegram bot: `sendPhoto` with a picture, else `sendMessage`. */
export const channel = channelType({
  name: 'telegram',
  audience: 'operators',
  variables: {
    HUB_TELEGRAM_TOKEN: z
      .string()
      .regex(/^\d{1,20}:[\w-]{10,100}$/, 'must be the token of a bot, such as 123456:ABC-DEF')
      .optional(),
    HUB_TELEGRAM_CHAT: z
      .string()
      .regex(/^(-?\d{1,20}|@\w{1,100})$/, 'must be the id of a chat or @name of a channel')
      .optional(),
    /** The address of the operator's own Bot API server. */
    HUB_TELEGRAM_URL: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }).optional(),
  },
  configure({ HUB_TELEGRAM_TOKEN: token, HUB_TELEGRAM_CHAT: chat, HUB_TELEGRAM_URL: url }) {
    if (token === undefined) return undefined
    if (chat === undefined) throw new Error('HUB_TELEGRAM_CHAT is not set, though HUB_TELEGRAM_TOKEN is')
    return {
      base: `${String(url ?? 'https://api.telegram.org').replace(/\/$/, '')}/bot${String(token)}`,
      chat: String(chat),
    }
  },
  open({ base, chat }) {
    const poster = createPoster('Telegram')
    return {
      problem: () => undefined,
      async send(messages) {
        for (const message of messages) {
          const words = `${message.title}\n${textOf(message)}`
          const buttons = buttonsOf(message)
          if (message.picture)
            await poster.post(
              `${base}/sendPhoto`,
              multipart(
                {
                  chat_id: chat,
                  caption: words.slice(0, CAPTION_MAX),
                  ...(buttons && { reply_markup: JSON.stringify(buttons) }),
                },
                { name: 'photo', jpeg: message.picture },
              ),
            )
          else
            await poster.post(`${base}/sendMessage`, {
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({
                chat_id: chat,
                text: words.slice(0, TEXT_MAX),
                ...(buttons && { reply_markup: buttons }),
              }),
            })
        }
      },
      close: poster.close,
    }
  },
  batch: 1,
  // A chat takes about one message a second.
  sendingsATurn: 1,
  pauseMs: 1_000,
  goesOnAfterFailure: false,
  interrupted: 'failed',
  unset: 'HUB_TELEGRAM_TOKEN is not set.',
  taken: 'Telegram took it.',
})

/** Telegram refuses buttons to names without a dot, such as localhost. */
function buttonsOf({ acknowledge, language }: Message) {
  if (acknowledge === undefined || !new URL(acknowledge.page).hostname.includes('.')) return undefined
  return { inline_keyboard: [[{ text: WORDS[language].acknowledge, url: acknowledge.page }]] }
}
