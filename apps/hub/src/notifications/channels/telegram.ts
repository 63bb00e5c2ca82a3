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
  fields: {
    token: {
      variable: 'HUB_TELEGRAM_TOKEN',
      kind: 'secret',
      label: 'Token of the bot',
      schema: z.string().regex(/^\d{1,20}:[\w-]{10,100}$/, 'must be the token of a bot, such as 123456:ABC-DEF'),
    },
    chat: {
      variable: 'HUB_TELEGRAM_CHAT',
      kind: 'text',
      label: 'Chat',
      help: 'The id of the chat, or @name of the channel, that the bot writes to.',
      schema: z.string().regex(/^(-?\d{1,20}|@\w{1,100})$/, 'must be the id of a chat or @name of a channel'),
    },
    url: {
      variable: 'HUB_TELEGRAM_URL',
      kind: 'address',
      label: 'Server',
      help: 'A Bot API server of your own instead of Telegram’s.',
      schema: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// address' }),
      default: 'https://api.telegram.org',
    },
  },
  open({ url, token, chat }, { reach }) {
    const poster = createPoster('Telegram', reach)
    const base = `${url.replace(/\/$/, '')}/bot${token}`
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
  taken: 'Telegram took it.',
})

/** Telegram refuses buttons to names without a dot, such as localhost. */
function buttonsOf({ acknowledge, language }: Message) {
  if (acknowledge === undefined || !new URL(acknowledge.page).hostname.includes('.')) return undefined
  return { inline_keyboard: [[{ text: WORDS[language].acknowledge, url: acknowledge.page }]] }
}
