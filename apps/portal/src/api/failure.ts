import { ApiError } from './client.ts'
import { textOf } from './words.ts'

/** What a person is told of a call that failed: `message`, and below it the `reason` where only the portal knows it. */
export type Failure = { message: string; reason?: string }

/**
 * The words of the answer. Where it holds none, as when nothing or something else than the
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
