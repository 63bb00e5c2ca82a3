/**
 * The device's HTTP API for its owner's programs: they report detections and state, which the agent sends to the hub.
 * It answers on the device's network only, never through the tunnel, and refuses browsers.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { Detection } from '@hedgerow/contract'
import { createBuckets, type Rate } from '@hedgerow/http'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { DeviceFile } from '../device-file/schema.ts'
import { isLoopback } from '../loopback.ts'
import { API_PATH, localCalls, localErrors, openApiDocument, type DeviceReport, type LocalErrorCode } from './calls.ts'

export type LocalApiOptions = {
  file(): DeviceFile
  /** Resolves when they are on disk. */
  report(detections: readonly Detection[]): Promise<void>
  setStatus(status: DeviceReport): void
  version: string
  log: Logger
  clock?: () => number
}

export type LocalApi = {
  owns(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

const BODY_MAX_BYTES = 2 * 1024 * 1024
const BODY_TIMEOUT_MS = 30_000
/** Twice the calls of ten cameras with five detections a second each, sent one by one. Stops runaway loops. */
const RATE: Rate = { burst: 200, perSecond: 100 }
/** All programs share one bucket. */
const PROGRAMS = [{ key: 'programs', share: 1 }]

/** Node's fetch sends `Sec-Fetch-Mode` but none of these. */
const BROWSERS_ONLY = ['origin', 'sec-fetch-site', 'sec-fetch-dest'] as const

class Refusal extends Error {
  readonly code: LocalErrorCode
  readonly fields: Record<string, string> | undefined

  constructor(code: LocalErrorCode, fields?: Record<string, string>) {
    super(code)
    this.code = code
    this.fields = fields
  }
}

export function createLocalApi(options: LocalApiOptions): LocalApi {
  const { log, clock = Date.now } = options
  const buckets = createBuckets(RATE, PROGRAMS.length)

  async function answer(request: IncomingMessage): Promise<unknown> {
    const path = pathOf(request)
    if (path === `${API_PATH}/openapi.json`) {
      allowMethod(request, 'GET')
      return openApiDocument(options.version)
    }
    const call = Object.values(localCalls).find((candidate) => path === `${API_PATH}${candidate.path}`)
    if (!call) throw new Refusal('not_found')
    allowMethod(request, call.method)
    authorise(request, options.file())
    takeToken()
    if (call === localCalls.reportDetections) {
      const { detections } = await readBody(request, localCalls.reportDetections.body)
      await options.report(detections)
      return { accepted: detections.length }
    }
    options.setStatus(await readBody(request, localCalls.putStatus.body))
    return {}
  }

  function takeToken(): void {
    if (buckets.waitMs(PROGRAMS, clock()) > 0) throw new Refusal('too_many_requests')
    buckets.add(PROGRAMS, -1)
  }

  return {
    owns: (path) => path === API_PATH || path.startsWith(`${API_PATH}/`),
    async handle(request, response) {
      try {
        send(response, 200, await answer(request))
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal('internal_error')
        if (!(error instanceof Refusal)) log.error({ err: error }, 'a call to the local API failed')
        const { status, message } = localErrors[refusal.code]
        if (status === 401) response.setHeader('www-authenticate', 'Bearer')
        if (status === 429) response.setHeader('retry-after', '1')
        if (!request.complete) response.setHeader('connection', 'close')
        const fieldErrors = refusal.fields && { fieldErrors: refusal.fields }
        send(response, status, { error: refusal.code, message, ...fieldErrors })
      }
    },
  }
}

function allowMethod(request: IncomingMessage, method: string): void {
  if (request.method !== method) throw new Refusal('method_not_allowed')
}

/**
 * Refuses browsers first: a page opened on the device, or one that uses DNS rebinding, comes from loopback as a program
 * does.
 */
function authorise(request: IncomingMessage, { sources: { api } }: DeviceFile): void {
  const { headers } = request
  if (BROWSERS_ONLY.some((name) => headers[name] !== undefined)) throw new Refusal('browser_refused')
  if (api === undefined) throw new Refusal('api_not_configured')
  const given = /^Bearer ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && api.token !== undefined && isSame(given, api.token)) return
  if (given === undefined && !api.loopbackNeedsToken && isLoopback(request.socket.remoteAddress)) return
  throw new Refusal('token_required')
}

/** Compares hashes, so that the time reveals neither content nor length. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}

async function readBody<S extends z.ZodType>(request: IncomingMessage, schema: S): Promise<z.output<S>> {
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal('unsupported_media_type')
  const read = readJson(await readBytes(request))
  if (read.problem === 'too-complex') throw new Refusal('json_too_complex')
  if (read.problem) throw new Refusal('invalid_json')
  const parsed = schema.safeParse(read.value)
  if (parsed.success) return parsed.data
  const named = parsed.error.issues.slice(0, 20).map(({ path, message }) => [path.join('.') || 'body', message])
  throw new Refusal('invalid_request', Object.fromEntries(named) as Record<string, string>)
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const late = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS)
  try {
    const parts: Buffer[] = []
    let length = 0
    // Keeps the connection open, so that a refusal in the middle of a body can still be answered.
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += part.length
      if (length > BODY_MAX_BYTES) throw new Refusal('payload_too_large')
      parts.push(part)
    }
    return Buffer.concat(parts)
  } finally {
    clearTimeout(late)
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  })
  response.end(text)
}

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0]!
}
