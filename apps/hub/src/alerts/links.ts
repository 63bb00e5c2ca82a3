/**
 * Links of messages, by which people acknowledge an alert without a session. A link names the alert, the channel that
 * carried it, the person when it was for one, and when it expires; an HMAC-SHA-256 with a key of this hub proves it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

const GOOD_FOR_MS = 7 * 86_400_000
/** Bytes of the HMAC: nobody guesses 128 bits. */
const SIGNATURE_BYTES = 16

/** Used instead of a channel's name in a link that shows an alert's picture and acknowledges nothing. */
export const PICTURE_LINK = 'picture'

export type AlertLink = { alertId: string; channel: string; userId: string | undefined }

export type AlertLinks = {
  make(link: AlertLink): string
  /** Undefined for a token of another hub, and for an expired one. */
  read(token: string): AlertLink | undefined
}

export function createAlertLinks({ key, clock }: { key: string; clock: () => number }): AlertLinks {
  const sign = (text: string) => createHmac('sha256', key).update(text).digest().subarray(0, SIGNATURE_BYTES)
  return {
    make({ alertId, channel, userId = '' }) {
      const until = Math.floor((clock() + GOOD_FOR_MS) / 1_000).toString(36)
      const text = [alertId, channel, userId, until].join('.')
      return `${text}.${sign(text).toString('base64url')}`
    },
    read(token) {
      const [alertId = '', channel = '', userId = '', until = '', signature = '', ...rest] = token.split('.')
      const expected = sign([alertId, channel, userId, until].join('.'))
      const given = Buffer.from(signature, 'base64url')
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      if (Number.parseInt(until, 36) * 1_000 < clock()) return undefined
      return { alertId, channel, userId: userId === '' ? undefined : userId }
    },
  }
}
