/**
 * The head of an HTTP answer as a checked value that can be forwarded. Node's parser accepts more than its writer
 * (status 000, control characters in the reason phrase), and the writer throws; so every answer of a proxied
 * application is checked here first. RFC 9110 §5.1, §5.5, §15; RFC 9112 §4.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isFieldText, isToken } from './fields.ts'
import { headerPairs } from './forwarding.ts'

/** `headers` is a raw list: name, value, name, value … */
export type AnswerHead = {
  status: number
  reason: string
  headers: readonly string[]
}

export const MAX_HEADERS = 256
export const MAX_HEADER_BYTES = 32 * 1024
export const MAX_REASON_BYTES = 256
export const MAX_INTERIM_ANSWERS = 16

/** Why an answer can't be forwarded. The message is fixed and contains nothing of the answer. */
export class UnusableAnswer extends Error {
  override name = 'UnusableAnswer'
}

/** The head of a final answer, status 200 to 599. Throws `UnusableAnswer`. */
export function readAnswerHead(answer: IncomingMessage): AnswerHead {
  const status = answer.statusCode ?? 0
  if (!Number.isInteger(status) || status < 200 || status > 599) throw new UnusableAnswer('its status is not valid')
  const { reason, headers } = readRest(answer)
  // With a length on an answer that has no body (RFC 9110 §8.6), the next answer would be read as that body.
  return { status, reason, headers: status === 204 ? withoutLength(headers) : headers }
}

/** The head of an agreement to switch protocols, status 101. Throws `UnusableAnswer`. */
export function readSwitchHead(answer: IncomingMessage): AnswerHead {
  if (answer.statusCode !== 101) throw new UnusableAnswer('it switched protocols without saying so')
  return { status: 101, ...readRest(answer) }
}

/** Ends a request with too many interim answers (status 1xx, never forwarded) or with an unrequested 101. */
export function boundInterimAnswers(outgoing: ClientRequest): void {
  let count = 0
  outgoing.on('information', ({ statusCode }: { statusCode: number }) => {
    if (statusCode === 101 || ++count > MAX_INTERIM_ANSWERS)
      outgoing.destroy(new UnusableAnswer('its interim answers are not valid'))
  })
}

/**
 * The bytes of a head, for a connection that has left HTTP. Throws `UnusableAnswer` for `headers` that are not valid.
 */
export function writeHead({ status, reason, headers }: AnswerHead): string {
  checkHeaders(headers)
  const lines = [`HTTP/1.1 ${status} ${reason}`]
  for (const [name, value] of headerPairs(headers)) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Throws `UnusableAnswer` when a raw header list can't be written unchanged. */
export function checkHeaders(headers: readonly string[]): void {
  if (headers.length % 2 !== 0 || headers.length > MAX_HEADERS * 2) throw new UnusableAnswer('it has too many headers')
  let bytes = 0
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    bytes += name.length + value.length
    if (bytes > MAX_HEADER_BYTES) throw new UnusableAnswer('its headers are too long')
    if (!isToken(name)) throw new UnusableAnswer('a header name is not valid')
    if (!isFieldText(value)) throw new UnusableAnswer('a header contains a forbidden character')
  }
}

/** Throws `UnusableAnswer` when reason phrase or headers can't be written unchanged. */
export function checkAnswerHead({ reason, headers }: Pick<AnswerHead, 'reason' | 'headers'>): void {
  if (reason.length > MAX_REASON_BYTES || !isFieldText(reason))
    throw new UnusableAnswer('its reason phrase is not valid')
  checkHeaders(headers)
}

function readRest(answer: IncomingMessage): { reason: string; headers: string[] } {
  const rest = { reason: answer.statusMessage ?? '', headers: [...answer.rawHeaders] }
  checkAnswerHead(rest)
  return rest
}

export function withoutLength(headers: readonly string[]): string[] {
  return headerPairs(headers).flatMap((pair) => (pair[0].toLowerCase() === 'content-length' ? [] : pair))
}
