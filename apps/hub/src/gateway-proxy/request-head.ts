import { checkHeaders, fieldLines } from '@hedgerow/http'
import { HubError } from '../kernel/hub-error.ts'

/** Visible ASCII and obs-text: what a request line may have between its spaces. */
const TARGET = /^[\x21-\x7e\x80-\xff]+$/

/** The lines of a raw header list. Throws `invalid_request` when a part can't be written unchanged. */
export function requestLines(headers: readonly string[]): string {
  try {
    checkHeaders(headers)
  } catch (cause) {
    throw new HubError('invalid_request', { cause })
  }
  return fieldLines(headers)
}

/** The bytes of a request's head, as Latin-1. Throws `invalid_request` for a target that can't be written unchanged. */
export function requestHead(method: string, target: string, lines: string): string {
  if (!TARGET.test(target)) throw new HubError('invalid_request')
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n`
}
