/**
 * Turns rows of the outbox into messages. The picture, links and tokens are added when a message is sent, never stored.
 */
import { acknowledgeByLink, API_BASE, readAlertPicture, type Language } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Acknowledge, Message, PushContent } from './channel.ts'
import { WORDS } from './words.ts'

export type Row = Selectable<Tables['notifications']>
/** The part of an announcement that a row stores. */
export type Content = {
  /** The portal's page about it, such as `/gateways`. */
  path?: string
  /** A line for a mail's subject. */
  title: string
  /** The details and the advice, for a person. */
  text: string
  /** For programs. */
  data: Record<string, string | null>
  /** The address of the person that it is for; independent of the switches unless an alert tells it. */
  to?: string
  /** The person that it is for, whose link acknowledges the alert. */
  userId?: string
  /** For one browser, which `to` names. */
  push?: Omit<PushContent, 'words' | 'pictureUrl'>
  /** The detection whose picture goes with it, where the channel can carry one. */
  picture?: { gatewayId: string; detectionId: string } | undefined
  /** Which message of its alert it is: 0 is the first, then its rule's steps, then the all-clear. */
  step?: number | 'cleared'
  /** The language of `title` and `text`; English when left out. */
  language?: Language
}

type AlertOf = { alertId: string; userId: string | undefined }

export type MessageParts = {
  /** The portal's address for people. */
  portalUrl: () => string
  /** A JPEG; undefined when it is gone. */
  readPicture: (picture: NonNullable<Content['picture']>) => Promise<Buffer | undefined>
  /** The token of a link that acknowledges an alert. */
  alertLink: (link: AlertOf & { channel: string }) => string
  /** The token of a link that shows an alert's picture and acknowledges nothing. */
  pictureLink: (link: AlertOf) => string
}

export function createMessages(parts: MessageParts): (row: Row, content: Content) => Promise<Message> {
  const { portalUrl, readPicture, alertLink, pictureLink } = parts

  function pictureOf({ alert_id: alertId }: Row, userId: string | undefined): { pictureUrl?: string } {
    if (alertId === null) return {}
    const token = pictureLink({ alertId, userId })
    return { pictureUrl: `${portalUrl()}${API_BASE}${readAlertPicture.path}?token=${token}` }
  }

  function acknowledgeOf(alertId: string, channel: string, userId: string | undefined): Acknowledge {
    const token = alertLink({ alertId, channel, userId })
    const portal = portalUrl()
    // The token is in the fragment: browsers send it to no server, so that no log holds it.
    return { page: `${portal}/acknowledge#${token}`, call: `${portal}${API_BASE}${acknowledgeByLink.path}`, token }
  }

  return async (row, content) => {
    const { title, text, path, data, to, userId, push, picture, language = 'en' } = content
    const jpeg = picture && (await readPicture(picture).catch(() => undefined))
    return {
      id: row.key,
      serial: serialOf(row),
      event: row.kind,
      at: new Date(row.created_at).toISOString(),
      title,
      text,
      language,
      url: path === undefined ? undefined : `${portalUrl()}${path}`,
      data,
      to,
      // There is nothing to acknowledge once all is well.
      ...(row.alert_id !== null &&
        content.step !== 'cleared' && { acknowledge: acknowledgeOf(row.alert_id, row.channel, userId) }),
      ...(push && { push: { ...push, words: wordsOf(language), ...(picture && pictureOf(row, userId)) } }),
      ...(jpeg && { picture: jpeg }),
    }
  }
}

function wordsOf(language: Language): PushContent['words'] {
  const { acknowledge, open } = WORDS[language]
  return { acknowledge, open }
}

/**
 * Different each time that a person has the message sent again: mail servers drop a second mail with the same
 * Message-ID.
 */
function serialOf({ id, created_at: createdAt, sent_again: sentAgain }: Row): string {
  return sentAgain === 0 ? `${id}.${createdAt}` : `${id}.${createdAt}.${sentAgain}`
}
