/** Who may call the local API. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../calls/errors.ts'
import type { DeviceFile } from '../../device-file/schema.ts'
import { isLoopback } from '../../kernel/loopback.ts'

/** Node's fetch sends `Sec-Fetch-Mode` but none of these. */
const BROWSERS_ONLY = ['origin', 'sec-fetch-site', 'sec-fetch-dest'] as const

/**
 * Refuses browsers first: a page that somebody opens on the device, or a rebound name, calls from loopback as programs
 * do. `isForCommands`: only the commands of this device may call. Throws `Refusal`.
 */
export function authorise(
  request: IncomingMessage,
  { sources: { api } }: DeviceFile,
  agentToken: string,
  isForCommands: boolean,
): void {
  const { headers } = request
  if (BROWSERS_ONLY.some((name) => headers[name] !== undefined)) throw new Refusal('browser_refused')
  const given = /^Bearer ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && isSame(given, agentToken)) return
  if (isForCommands) throw new Refusal('token_required')
  if (api === undefined) throw new Refusal('api_not_configured')
  if (given !== undefined && api.token !== undefined && isSame(given, api.token)) return
  if (given === undefined && !api.loopbackNeedsToken && isLoopback(request.socket.remoteAddress)) return
  throw new Refusal('token_required')
}

/** Compares hashes, so that the duration reveals neither content nor length. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}
