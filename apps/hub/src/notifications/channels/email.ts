import type { Language } from '@hedgerow/contract'
import { z } from 'zod'
import { channelType, type Message } from '../channel.ts'
import { createMailer } from '../mailer.ts'
import { WORDS } from '../words.ts'

/** Pictures in one mail, each of at most 64 KiB. */
const PICTURES_MAX = 20

/**
 * Mail to the address of the auto-approval settings; waiting messages go out as one, so a thousand requests are one
 * mail a minute.
 */
export const channel = channelType({
  name: 'email',
  audience: 'operators',
  fields: {
    url: {
      variable: 'HUB_SMTP_URL',
      kind: 'address',
      label: 'Mail server',
      help: 'smtp://host:587 or smtps://host.',
      schema: z.url({ protocol: /^smtps?$/, error: 'must be an smtp:// or smtps:// address' }),
    },
    username: {
      variable: 'HUB_SMTP_USERNAME',
      kind: 'text',
      label: 'Username',
      schema: z.string().min(1).max(1_000),
      isOptional: true,
    },
    password: {
      variable: 'HUB_SMTP_PASSWORD',
      kind: 'secret',
      label: 'Password',
      schema: z.string().min(1).max(1_000),
      isOptional: true,
    },
    from: {
      variable: 'HUB_SMTP_FROM',
      kind: 'text',
      label: 'Sender',
      help: 'The address that mail comes from.',
      schema: z.string().trim().min(3).max(320),
    },
  },
  open(smtp, { reach }) {
    const mailer = createMailer({ ...smtp, reach })
    return {
      problem: ({ email }) =>
        email === '' ? 'There is no notification email in the auto-approval settings.' : undefined,
      send: (messages, { email }) => mailer.send({ to: email, id: messages[0]?.serial ?? '', ...mailOf(messages) }),
      close: mailer.close,
    }
  },
  batch: 100,
  sendingsATurn: 1,
  pauseMs: 60_000,
  goesOnAfterFailure: false,
  // A person must not get a mail twice.
  interrupted: 'failed',
  taken: 'The mail server took it.',
})

/** The text with the addresses of its page and of the one that acknowledges it. */
export function textOf({ text, url, acknowledge, language }: Message): string {
  return [
    text,
    ...(url === undefined ? [] : [url]),
    ...(acknowledge === undefined ? [] : [`${WORDS[language].acknowledge}: ${acknowledge.page}`]),
  ].join('\n')
}

/** English, unless all of them are in one other language. */
function languageOf([first, ...others]: readonly Message[]): Language {
  return first && others.every(({ language }) => language === first.language) ? first.language : 'en'
}

function mailOf(messages: readonly Message[]): { subject: string; text: string; pictures: Buffer[] } {
  const [first] = messages
  const pictures = messages.flatMap(({ picture }) => picture ?? []).slice(0, PICTURES_MAX)
  const words =
    messages.length === 1 && first
      ? { subject: first.title, text: textOf(first) }
      : {
          subject: WORDS[languageOf(messages)].several(messages.length),
          text: messages.map((message) => `${message.title}\n${textOf(message)}`).join('\n\n'),
        }
  return { ...words, pictures }
}
