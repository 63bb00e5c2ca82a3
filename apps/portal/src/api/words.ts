/** The words of an answer's body: the hub's own, or those of what stands before it. */

/** Longer texts are of no use to a person. */
const TEXT_MAX_LENGTH = 300

/** A field of a body, where it is a text that says something. */
export function textOf(body: unknown, field: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/**
 * What a refusal says: its `message`, or `error` where that is all. The hub's own has both, and `error` is a code
 * there.
 */
export function wordsOf(body: unknown): string | undefined {
  return [textOf(body, 'message'), textOf(body, 'error')].find(
    (text) => text !== undefined && text.length <= TEXT_MAX_LENGTH,
  )
}
