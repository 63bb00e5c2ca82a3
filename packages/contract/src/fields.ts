import { z } from 'zod'

/**
 * What ends a line, changes its direction or cannot be seen: control characters, line and paragraph separators, halves
 * of surrogate pairs, and what Unicode lets a renderer leave out (zero-width, bidi, tags, U+FEFF). The selector that
 * makes the character before it an emoji stays.
 */
const UNSEEN =
  /(?!(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu')
/** The same but for line feeds and tabs. */
const UNSEEN_IN_LINES = new RegExp(`(?![\\n\\t])${UNSEEN.source}`, 'u')

const atMost = (max: number) => `At most ${max.toLocaleString('en')} characters`

/** What people type into one-line fields, with the sentences they read beside the field. Limits are inclusive. */
export const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .max(max, atMost(max))
    .refine((text) => !UNSEEN.test(text), 'Line breaks and invisible characters are not allowed')

/** What people type into fields of several lines. */
export const severalLines = (max: number) =>
  z
    .string()
    .overwrite((text) => text.replaceAll('\r\n', '\n'))
    .trim()
    .max(max, atMost(max))
    .refine((text) => !UNSEEN_IN_LINES.test(text), 'Invisible characters are not allowed')

/**
 * One line that no person typed for this field, such as a heartbeat's texts: it is cleaned and not refused, so that a
 * device with an odd camera name goes on to be heard.
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
  const error = `Enter a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`
  return z.number(error).int(error).min(min, error).max(max, error)
}

/** 9999-12-31, the last day that ISO 8601 has four digits for, in milliseconds since 1970. */
const LAST_MOMENT_MS = 253_402_300_799_999

/** A wall clock's reading, in milliseconds since 1970. */
export const epochMs = z.number().int().min(0).max(LAST_MOMENT_MS)

/** A moment as ISO 8601 in UTC, from 1970 on: a device without a clock starts there. */
export const moment = z.iso
  .datetime()
  .max(30)
  .refine((text) => Date.parse(text) >= 0, 'Must not lie before 1970')
