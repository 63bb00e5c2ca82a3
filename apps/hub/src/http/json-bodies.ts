/** Reads and parses the JSON bodies of requests. */
import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeJson, findJsonProblem, parseCheckedJson, type JsonProblem } from '@hedgerow/contract/bounded-json'
import { GatheredBytes } from '@hedgerow/http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HubError } from '../kernel/hub-error.ts'

const LARGE_BODY_BYTES = 64 * 1024

/**
 * Keeps the raw bytes, which signatures cover, beside the parsed body; signed bytes are verified before they are
 * parsed.
 */
export function parseJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    const body = await readBody(payload, request.routeOptions.bodyLimit)
    request.rawBody = body
    request.routeOptions.config.verifyBody?.(request, body)
    if (body.length <= LARGE_BODY_BYTES) return parseSmall(body)
    const text = checked(body)
    // Lets other requests run before a large body is parsed.
    await nextTurn()
    const value = parse(text)
    await nextTurn()
    return value
  })
}

/** For calls of other programs that send a form; within a scope of their own, so that no other call takes one. */
export function parseForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (request: FastifyRequest, payload: IncomingMessage) => {
      const body = await readBody(payload, request.routeOptions.bodyLimit)
      return Object.fromEntries(new URLSearchParams(body.toString()))
    },
  )
}

/** The value of a body that needs no turn of its own. Throws `invalid_json` or `json_too_complex`. */
function parseSmall(body: Buffer): unknown {
  return parse(checked(body))
}

/** The text of a body that may be parsed. */
function checked(body: Buffer): string {
  const text = decodeJson(body)
  if (text === undefined) throw refusalOf('malformed')
  const problem = findJsonProblem(text)
  if (problem) throw refusalOf(problem)
  return text
}

function parse(text: string): unknown {
  const parsed = parseCheckedJson(text)
  if (parsed.problem) throw refusalOf(parsed.problem)
  return parsed.value
}

/** Fastify's own reader keeps a list of the pieces, which for single bytes is much larger than the body. */
function readBody(payload: IncomingMessage, limit: number): Promise<Buffer> {
  if (Number(payload.headers['content-length']) > limit) return Promise.reject(new HubError('payload_too_large'))
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const body = new GatheredBytes()
  const onData = (piece: Buffer): void => {
    body.add(piece)
    if (body.length <= limit) return
    payload.removeListener('data', onData)
    reject(new HubError('payload_too_large'))
  }
  payload.on('data', onData)
  payload.on('end', () => resolve(body.take()))
  payload.on('error', (cause) => reject(new HubError('invalid_request', { cause })))
  return promise
}

function refusalOf(problem: JsonProblem): HubError {
  if (problem === 'too-complex') return new HubError('json_too_complex')
  if (problem === 'malformed') return new HubError('invalid_json')
  return new HubError('invalid_json', { message: 'The request body names a field twice, or one that is reserved.' })
}
