/** Finds the text for a person in an answer's body: the hub's, or that of a proxy in front of it. */

/** Longer texts are of no use to a person. */
const TEXT_MAX_LENGTH = 300

/** A field of the body, if it is a non-empty text. */
export function textOf(body: unknown, field: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/**
 * The text of a refusal: its `message`, otherwise its `error`. The hub sends both, with a code in `error`.
 */
export function wordsOf(body: unknown): string | undefined {
  return [textOf(body, 'message'), textOf(body, 'error')].find(
    (text) => text !== undefined && text.length <= TEXT_MAX_LENGTH,
  )
}
