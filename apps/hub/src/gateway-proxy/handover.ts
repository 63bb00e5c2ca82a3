/**
 * The one address of the hub on a gateway's origin: a page of the hub posts a ticket there, and the browser gets the
 * origin's session cookie. Refuses posts from any other page, with any ticket.
 */
import type { Exchange } from '@hedgerow/http'
import { HubError } from '../kernel/hub-error.ts'
import { sessionCookie } from './cookies.ts'
import type { GatewayHost } from './origins.ts'
import { replyTo } from './reply.ts'
import type { Grant, Tickets } from './tickets.ts'
import { isAt, type UiSessions } from './ui-sessions.ts'

export const HANDOVER_PATH = '/__hub/session'
const MAX_FORM_BYTES = 8 * 1024
const MAX_PATH_LENGTH = 2_048

/**
 * Redeems the posted ticket and redirects to the requested path. `admit` throws if the grant is no longer valid, and
 * records the visit.
 */
export async function handOver(
  exchange: Exchange,
  host: GatewayHost,
  parts: {
    tickets: Tickets
    sessions: UiSessions
    admit: (grant: Grant) => Promise<void>
    formTimeoutMs: number
  },
): Promise<void> {
  const { tickets, sessions, admit, formTimeoutMs } = parts
  if (exchange.method !== 'POST') throw new HubError('method_not_allowed')
  const form = await readForm(exchange, formTimeoutMs)
  const path = form.get('path') || '/'
  if (!isLocalPath(path)) throw new HubError('invalid_request')
  const grant = tickets.redeem(form.get('ticket') ?? '')
  if (!grant || !isAt(grant, host)) throw new HubError('ticket_invalid')
  if (exchange.headers.origin !== grant.hubOrigin) throw new HubError('origin_not_allowed')
  await admit(grant)
  replyTo(exchange).send(303, {
    Location: path,
    'Set-Cookie': sessionCookie(host, sessions.start(grant)),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  })
}

/** Tells a page of the hub that its browser reaches this origin, before it leaves for it: nothing about anybody. */
export function answerReach(exchange: Exchange): void {
  replyTo(exchange).send(204, { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' })
}

/** Whether a browser on the gateway's origin that follows `path` stays there. */
export function isLocalPath(path: string): boolean {
  return path.length <= MAX_PATH_LENGTH && /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(path)
}

async function readForm(exchange: Exchange, timeoutMs: number): Promise<URLSearchParams> {
  const type = exchange.headers['content-type'] ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) throw new HubError('unsupported_media_type')
  const chunks: Buffer[] = []
  let bytes = 0
  // The client has no session yet, so a slow one is cut off.
  const timer = setTimeout(() => exchange.cut(), timeoutMs)
  try {
    await new Promise<void>((resolve, reject) => {
      exchange.begin({
        onUpload(chunk) {
          bytes += chunk.length
          if (bytes > MAX_FORM_BYTES) reject(new HubError('payload_too_large'))
          else chunks.push(chunk)
        },
        onUploaded: () => resolve(),
        onRoom: () => {},
        onAnswered: () => {},
        onOver: () => reject(new Error('the client closed the connection before its form was complete')),
      })
      if (exchange.hasBody) exchange.resume()
      else resolve()
    })
  } finally {
    clearTimeout(timer)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
