import { ApiError } from './client.ts'

/** What a person is told of a call that failed: `message`, and below it the `reason` where only the portal knows it. */
export type Failure = { message: string; reason?: string }

/**
 * The words of the answer (specification section 8). Where it holds none, as when nothing or something else than the
 * hub answered, it is `fallback`. `wordsIn` finds the words in an answer's body.
 */
export function failureOf(
  error: unknown,
  fallback: string,
  wordsIn: (body: unknown, status: number) => string | undefined = messageIn,
): Failure {
  if (!(error instanceof ApiError)) return { message: fallback }
  const words = wordsIn(error.body, error.status)
  return words === undefined ? { message: fallback, reason: error.message } : { message: words }
}

function messageIn(body: unknown): string | undefined {
  return textOf(body, 'message')
}

/** A field of an answer's body, where it is a text that says something. */
export function textOf(body: unknown, field: string): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  const value: unknown = Object.entries(body).find(([name]) => name === field)?.[1]
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}
