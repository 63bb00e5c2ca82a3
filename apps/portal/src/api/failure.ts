import { ApiError } from './client.ts'
import { textOf } from './words.ts'

/** The text for a failed call: `message`, and below it a `reason` that only the portal knows. */
export type Failure = { message: string; reason?: string }

/** The text of the answer, found by `wordsIn`. Without one, for example when nothing answered, it is `fallback`. */
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
