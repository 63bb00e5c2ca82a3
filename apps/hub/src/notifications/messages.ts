/**
 * From rows of the outbox to messages: the picture, links and tokens are added when a message is sent, never stored.
 */
import { acknowledgeByLink, API_BASE, readAlertPicture } from '@hedgerow/contract'
import type { Selectable } from 'kysely'
import type { Tables } from '../database/tables.ts'
import type { Acknowledge, Message } from './channel.ts'
import type { Announcement } from './notifications.ts'

/** In the place of a channel's name: a link that shows an alert's picture and acknowledges nothing. */
export const PICTURE_LINK = 'picture'

export type Row = Selectable<Tables['notifications']>
/** What a row stores of its announcement. */
export type Content = Pick<Announcement, 'title' | 'text' | 'data' | 'path' | 'to' | 'userId' | 'push' | 'picture'>

export type MessageParts = {
  /** The portal's address for people. */
  portalUrl: () => string
  /** A JPEG; undefined when it is gone. */
  readPicture: (picture: NonNullable<Announcement['picture']>) => Promise<Buffer | undefined>
  /** The token of a link that acknowledges an alert. */
  alertLink: (link: { alertId: string; channel: string; userId: string | undefined }) => string
}

export function createMessages({ portalUrl, readPicture, alertLink }: MessageParts): (row: Row) => Promise<Message> {
  function pictureOf({ alert_id: alertId }: Row, userId: string | undefined): { pictureUrl?: string } {
    if (alertId === null) return {}
    const token = alertLink({ alertId, channel: PICTURE_LINK, userId })
    return { pictureUrl: `${portalUrl()}${API_BASE}${readAlertPicture.path}?token=${token}` }
  }

  function acknowledgeOf(alertId: string, channel: string, userId: string | undefined): Acknowledge {
    const token = alertLink({ alertId, channel, userId })
    const portal = portalUrl()
    // Behind the #, which browsers send to no server, so that it is in no log.
    return { page: `${portal}/acknowledge#${token}`, call: `${portal}${API_BASE}${acknowledgeByLink.path}`, token }
  }

  return async (row) => {
    const { title, text, path, data, to, userId, push, picture } = JSON.parse(row.content) as Content
    const jpeg = picture && (await readPicture(picture).catch(() => undefined))
    return {
      id: row.key,
      serial: serialOf(row),
      event: row.kind,
      at: new Date(row.created_at).toISOString(),
      title,
      text,
      url: path === undefined ? undefined : `${portalUrl()}${path}`,
      data,
      to,
      ...(row.alert_id !== null && { acknowledge: acknowledgeOf(row.alert_id, row.channel, userId) }),
      ...(push && { push: { ...push, ...(picture && pictureOf(row, userId)) } }),
      ...(jpeg && { picture: jpeg }),
    }
  }
}

/** Another one each time that a person has it sent again: mail servers drop a second mail with the same Message-ID. */
function serialOf({ id, created_at: createdAt, sent_again: sentAgain }: Row): string {
  return sentAgain === 0 ? `${id}.${createdAt}` : `${id}.${createdAt}.${sentAgain}`
}
