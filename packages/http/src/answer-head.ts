/**
 * The head of an HTTP answer as a value that may be written to somebody else. Node's parser lets more in than its
 * writer lets out (status 000, control characters in the reason phrase), and its writer throws; so what a proxied
 * application said is read here first. RFC 9110 §5.1, §5.5, §15; RFC 9112 §4.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { headerPairs } from './forwarding.ts'

/** `headers` is a raw list: name, value, name, value … */
export type AnswerHead = { status: number; reason: string; headers: string[] }

const MAX_HEADERS = 256
const MAX_HEADER_BYTES = 32 * 1024
const MAX_REASON_BYTES = 256
const MAX_INTERIM_ANSWERS = 16
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** Horizontal tab, space, visible ASCII, obs-text: as Latin-1, which is how Node reads and writes them. */
const FIELD_TEXT = /^[\t\x20-\x7e\x80-\xff]*$/

/** Why an answer cannot be passed on. The message is fixed and holds nothing of what was received. */
export class UnusableAnswer extends Error {
  override name = 'UnusableAnswer'
}

/** The head of a final answer, status 200 to 599. Throws `UnusableAnswer`. */
export function readAnswerHead(answer: IncomingMessage): AnswerHead {
  const status = answer.statusCode ?? 0
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new UnusableAnswer('its status is none')
  const { reason, headers } = readRest(answer)
  // A length where there is never a body (RFC 9110 §8.6) would make the next answer a part of this one.
  return { status, reason, headers: status === 204 ? withoutLength(headers) : headers }
}

/** The head of an agreement to switch protocols, status 101. Throws `UnusableAnswer`. */
export function readSwitchHead(answer: IncomingMessage): AnswerHead {
  if (answer.statusCode !== 101) throw new UnusableAnswer('it switched protocols without saying so')
  return { status: 101, ...readRest(answer) }
}

/** Ends a request whose interim answers (status 1xx, never passed on) do not end, or that answers 101 unasked. */
export function boundInterimAnswers(outgoing: ClientRequest): void {
  let count = 0
  outgoing.on('information', ({ statusCode }: { statusCode: number }) => {
    if (statusCode === 101 || ++count > MAX_INTERIM_ANSWERS)
      outgoing.destroy(new UnusableAnswer('its interim answers are of no use'))
  })
}

/**
 * The bytes of a head, for a connection that has left HTTP. Throws `UnusableAnswer` for what `headers` may not hold.
 */
export function writeHead({ status, reason, headers }: AnswerHead): string {
  checkHeaders(headers)
  const lines = [`HTTP/1.1 ${status} ${reason}`]
  for (const [name, value] of headerPairs(headers)) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Throws `UnusableAnswer` when a raw header list cannot be written as it stands. */
export function checkHeaders(headers: readonly string[]): void {
  if (headers.length % 2 !== 0 || headers.length > MAX_HEADERS * 2) throw new UnusableAnswer('it has too many headers')
  let bytes = 0
  for (const [name, value] of headerPairs(headers)) {
    bytes += name.length + value.length
    if (bytes > MAX_HEADER_BYTES) throw new UnusableAnswer('its headers are too long')
    if (!TOKEN.test(name)) throw new UnusableAnswer('a header name is none')
    if (!FIELD_TEXT.test(value)) throw new UnusableAnswer('a header holds a character that none may hold')
  }
}

function readRest(answer: IncomingMessage): { reason: string; headers: string[] } {
  const reason = answer.statusMessage ?? ''
  if (reason.length > MAX_REASON_BYTES || !FIELD_TEXT.test(reason))
    throw new UnusableAnswer('its reason phrase is none')
  const headers = [...answer.rawHeaders]
  checkHeaders(headers)
  return { reason, headers }
}

function withoutLength(headers: readonly string[]): string[] {
  return headerPairs(headers).flatMap((pair) => (pair[0].toLowerCase() === 'content-length' ? [] : pair))
}
