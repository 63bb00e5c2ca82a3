import type { Acknowledgement } from '@hedgerow/contract'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'

/** The person who acknowledged an alert, and when. */
export function acknowledgedInWords({ by, via, at }: Acknowledgement): string {
  const who = by === '' ? '' : ` by ${by}`
  const how = via === 'portal' ? '' : `, by a link over ${CHANNEL_NAMES[via] ?? via}`
  return `Acknowledged${who} on ${new Date(at).toLocaleString()}${how}.`
}

/** When everything that an alert is about was resolved. */
export function resolvedInWords(clearedAt: string): string {
  return `Resolved ${new Date(clearedAt).toLocaleString()}`
}
