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
