import { z } from 'zod'
import { parseClockHours, WEEK_DAYS } from './schedules.ts'

/** Scripts that write without joiners: between two of their letters, one would only tell two equal names apart. */
const UNJOINED = ['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Hebrew', 'Han', 'Hiragana', 'Katakana', 'Hangul']
const JOINED = `(?!${UNJOINED.map((script) => `\\p{Script=${script}}`).join('|')})[\\p{L}\\p{M}]`
/** Living scripts whose letters join their neighbours: a non-joiner before one changes how it looks. */
const CURSIVE = ['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian', 'Phags_Pa', 'Adlam', 'Hanifi_Rohingya']
const CURSIVE_LETTER = `(?=\\p{L})[${CURSIVE.map((script) => `\\p{Script=${script}}`).join('')}]`
/** Canonical combining class 9, which expressions have no name for. */
const VIRAMA = [
  String.raw`\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84`,
  String.raw`\u1039\u103a\u1714\u1715\u1734\u17d2\u1a60\u1b44\u1baa\u1bab\u1bf2\u1bf3\u2d7f\ua806\ua82c\ua8c4`,
  String.raw`\ua953\ua9c0\uaaf6\uabed\u{10a3f}\u{11046}\u{11070}\u{1107f}\u{110b9}\u{11133}\u{11134}\u{111c0}`,
  String.raw`\u{11235}\u{112ea}\u{1134d}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}`,
  String.raw`\u{1193d}\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}\u{11d45}\u{11d97}`,
].join('')
const EMOJI = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]`
/**
 * What is invisible and belongs to the text: joiners between letters and after a virama, as in Persian and Malayalam
 * (RFC 5892, A.1, A.2), also where a Persian ending follows a word or number of another script; joiners inside an
 * emoji, the selector that makes an emoji or a keycap, the tags of a region's flag (UTS #51); an ideograph's variant.
 */
const JOINER = [
  String.raw`(?<=${JOINED})[\u200c\u200d](?=${JOINED})`,
  String.raw`(?<=[\p{L}\p{M}\p{N}])\u200c(?=${CURSIVE_LETTER})`,
  String.raw`(?<=[${VIRAMA}])[\u200c\u200d]`,
  String.raw`(?<=${EMOJI})\u200d(?=\p{Extended_Pictographic})`,
].join('|')
const SELECTOR = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f(?=\u20e3)`
const VARIANT = String.raw`(?<=\p{Script=Han})[\u{e0100}-\u{e01ef}]`
/** Up to 6 tags, which are the code of a country's part, and the end of them. */
const TAGS = String.raw`[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]`
const FLAG = String.raw`(?<=\u{1f3f4}${TAGS}{0,5})${TAGS}(?=${TAGS}{0,5}\u{e007f})|(?<=\u{1f3f4}${TAGS}{3,6})\u{e007f}`
/**
 * Characters that end a line, change its direction or are invisible: control characters, line and paragraph separators,
 * halves of surrogate pairs, and default ignorable code points (zero-width, bidi, tags, U+FEFF).
 */
const UNSEEN = new RegExp(
  String.raw`(?!${JOINER}|${SELECTOR}|${VARIANT}|${FLAG})` +
    String.raw`[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`,
  'u',
)
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu')
/** The same, except line feeds and tabs. */
const UNSEEN_IN_LINES = new RegExp(`(?![\\n\\t])${UNSEEN.source}`, 'u')

/** Made when it is needed: the words for numbers of a language take memory. */
const atMost = (max: number) => ({ error: () => `At most ${max.toLocaleString('en')} characters` })

/** A one-line field that people fill in, with the sentences for its errors. Limits are inclusive. */
export const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .max(max, atMost(max))
    .refine((text) => !UNSEEN.test(text), 'Line breaks and invisible characters are not allowed')

/** A host name of several labels whose last one is no number. IDNA2008 writes other scripts as `xn--…` (RFC 5890). */
const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/

/** Words of RFC 5321's atext. Text in quotation marks is valid too, but mail servers differ about it. */
const LOCAL_PART = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i

function isEmailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const domain = text.slice(at + 1)
  // No characters that would end the host of an address.
  if (at < 1 || /[\s/\\?#:@[\]%]/.test(domain)) return false
  const address = `http://${domain}`
  return URL.canParse(address) && DOMAIN.test(new URL(address).hostname) && LOCAL_PART.test(text.slice(0, at))
}

/** An email address; its domain may be of any script, as in `name@пример.рф`. */
export const emailAddress = z
  .string({ error: 'Enter an email address' })
  .trim()
  .max(254, 'An email address has at most 254 characters')
  .refine(isEmailAddress, 'Enter an email address such as name@example.org')
  .meta({ format: 'idn-email' })

/** A field of several lines that people fill in. */
export const severalLines = (max: number) =>
  z
    .string()
    .overwrite((text) => text.replaceAll('\r\n', '\n'))
    .trim()
    .max(max, atMost(max))
    .refine((text) => !UNSEEN_IN_LINES.test(text), 'Invisible characters are not allowed')

/**
 * One line from a device, such as a heartbeat's texts: cleaned instead of refused, so that a device with an odd camera
 * name can still report.
 */
export const cleanLine = (max: number) =>
  z
    .string()
    .max(max, atMost(max))
    .overwrite((text) =>
      text
        .replaceAll(/[\t\n\r\u2028\u2029]+/g, ' ')
        .replaceAll(ALL_UNSEEN, '')
        .trim(),
    )

export function wholeNumber(min: number, max: number) {
  const words = () => `Enter a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`
  const error = { error: words }
  return z.number(error).int(error).min(min, error).max(max, error)
}

const TAG = /^[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}._-]*$/u
const TAG_MAX = 30

/** A word by which people group gateways. Lower case, so that `North` and `north` are one. */
export const tag = oneLine(TAG_MAX)
  .min(1, 'Enter a tag')
  .overwrite((text) => text.normalize('NFC').toLowerCase())
  .regex(TAG, 'A tag is one word of letters, digits, dots, hyphens and underscores')

/** 9999-12-31, the last day with a four-digit year in ISO 8601, in milliseconds since 1970. */
const LAST_MOMENT_MS = 253_402_300_799_999

/** A wall clock's reading, in milliseconds since 1970. */
export const epochMs = z.number().int().min(0).max(LAST_MOMENT_MS)

/** A moment as ISO 8601 in UTC, from 1970 on: a device without a clock starts there. */
export const moment = z.iso
  .datetime()
  .max(30)
  .refine((text) => Date.parse(text) >= 0, 'Must not be before 1970')

const TIME = /^([01]\d|2[0-3]):[0-5]\d$/
export const timeOfDay = z.string().regex(TIME, 'Enter a time such as 21:30')
/** `HH:MM-HH:MM`, or empty. */
export const hoursOfDay = z
  .string()
  .trim()
  .max(200)
  .refine(
    (text) => text === '' || parseClockHours(text) !== undefined,
    'Enter hours such as 02:00-05:00 or Mon-Fri 02:00-05:00, or nothing',
  )

const clockHours = z.strictObject({
  from: timeOfDay,
  to: timeOfDay.or(z.literal('24:00')),
  days: z.array(z.enum(WEEK_DAYS)).min(1).max(WEEK_DAYS.length).optional(),
})

/** By the clock on a wall, on the days on which they begin; each day without `days`. `24:00` ends a whole day. */
export const hoursByDay = z.union([clockHours, z.array(clockHours).min(1).max(14)])

/** The languages of alerts. */
export const language = z.enum(['en', 'de'])
export type Language = z.output<typeof language>

export const timeZone = z
  .string()
  .max(64)
  .refine((name) => {
    try {
      return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
    } catch {
      return false
    }
  }, 'This is no time zone, such as Europe/Berlin')
