/**
 * Serves one call of the contract straight from the front, with the answers of `mount`: node:http and Fastify cost
 * several times as much for each. For a call that comes hundreds of times a second, has a small body and no session.
 */
import { STATUS_CODES } from 'node:http'
import { API_BASE, type Call } from '@hedgerow/contract'
import { GatheredBytes, type Exchange, type FrontOptions } from '@hedgerow/http'
import type { FastifyBaseLogger } from 'fastify'
import type { z } from 'zod'
import { HubError } from '../kernel/hub-error.ts'
import { parseBody, refusalHeaders, refusalOf, toErrorBody } from './errors.ts'
import { parseSmall } from './json-bodies.ts'
import { refuseBrowsers } from './mount.ts'
import { refuseNullInJson } from './null-characters.ts'

export type FrequentCall<Body, Answer, Caller> = {
  bodyLimitBytes: number
  log: FastifyBaseLogger
  /** Throws to refuse the request, before its body is read. */
  identify(address: string): Caller | Promise<Caller>
  answer(caller: Caller, body: Body): Answer | Promise<Answer>
}

const NOTHING: Buffer = Buffer.alloc(0)
const JSON_TYPE = /^application\/json *(?:;|$)/i

export function serveFrequentCall<Body, Answer extends object, Caller>(
  call: Call & { body: z.ZodType<Body>; response: z.ZodType<Answer> },
  { bodyLimitBytes, log, identify, answer }: FrequentCall<Body, Answer, Caller>,
): NonNullable<FrontOptions['exchanges']> {
  const route = API_BASE + call.path

  async function answerTo(exchange: Exchange, body: Promise<Buffer>): Promise<Answer> {
    const { headers, socket, hasBody } = exchange
    refuseBrowsers(exchange)
    const caller = await identify(socket.remoteAddress ?? '')
    const type = headers['content-type'] ?? (hasBody ? '' : undefined)
    if (type !== undefined && !JSON_TYPE.test(type)) throw new HubError('unsupported_media_type')
    if (Number(headers['content-length'] ?? 0) > bodyLimitBytes) throw new HubError('payload_too_large')
    exchange.resume()
    const json = await body
    const parsed = type === undefined ? null : parseSmall(json)
    refuseNullInJson(json, parsed)
    return answer(caller, parseBody(call.body, parsed))
  }

  return {
    owns: ({ method, url = '' }) => method === call.method && (url === route || url.startsWith(`${route}?`)),
    async handle(exchange) {
      const startedAt = performance.now()
      const body = bodyOf(exchange, bodyLimitBytes)
      let status = 200
      try {
        send(exchange, status, await answerTo(exchange, body))
      } catch (error) {
        const refusal = refusalOf(error, { log, route })
        status = refusal.status
        if (exchange.isOpen) send(exchange, status, toErrorBody(refusal), refusalHeaders(refusal))
      }
      const ms = Math.round(performance.now() - startedAt)
      log.debug({ method: call.method, route, status, ms, sourceIp: exchange.socket.remoteAddress }, 'request')
    },
  }
}

/** Rejects with `payload_too_large`, and when the client leaves before its end. */
function bodyOf(exchange: Exchange, limitBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  // A request that is refused before has no reader of its body.
  promise.catch(() => {})
  let first = NOTHING
  let more: GatheredBytes | undefined
  let length = 0
  let isWhole = !exchange.hasBody
  exchange.begin({
    onUpload(bytes) {
      length += bytes.length
      if (length > limitBytes) reject(new HubError('payload_too_large'))
      else if (first.length === 0) first = bytes
      else (more ??= new GatheredBytes()).add(bytes)
    },
    onUploaded() {
      isWhole = true
      resolve(more ? Buffer.concat([first, more.take()]) : first)
    },
    onRoom() {},
    onAnswered() {
      // Nobody reads the rest.
      if (length > limitBytes) exchange.cut()
    },
    onOver() {
      if (!isWhole) reject(new HubError('invalid_request'))
    },
  })
  if (isWhole) resolve(NOTHING)
  return promise
}

function send(exchange: Exchange, status: number, answer: object, more: Record<string, string> = {}): void {
  const body = Buffer.from(JSON.stringify(answer))
  const headers = ['content-type', 'application/json; charset=utf-8', 'cache-control', 'no-store']
  for (const [name, value] of Object.entries(more)) headers.push(name, value)
  headers.push('content-length', String(body.length))
  exchange.start({ status, reason: STATUS_CODES[status] ?? '', headers })
  exchange.write(body)
  exchange.end()
}
