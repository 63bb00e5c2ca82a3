import { z } from 'zod'

/** What people type into forms, with the sentences they read beside the field. Limits are inclusive. */
export const shortText = (max: number) =>
  z
    .string()
    .trim()
    .max(max, `At most ${max.toLocaleString('en')} characters`)

/** Names, places and descriptions that people and devices choose: one line, no control or direction-changing characters. */
export const oneLine = (max: number) =>
  shortText(max).refine(
    (text) => !/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(text),
    'Control characters are not allowed',
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
