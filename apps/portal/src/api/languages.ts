/** The languages of messages, for lists of choices. */
import type { Language } from '@hedgerow/contract'

export const LANGUAGES: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['de', 'Deutsch'],
]
