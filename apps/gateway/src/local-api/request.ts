/** What comes in by the local API: who may call, and what a body is. Each throws `Refusal`. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { z } from 'zod'
import type { DeviceFile } from '../device-file/schema.ts'
import { isLoopback } from '../loopback.ts'
import type { LocalErrorCode } from './calls.ts'

const BODY_MAX_BYTES = 2 * 1024 * 1024
const BODY_TIMEOUT_MS = 30_000

/** Node's fetch sends `Sec-Fetch-Mode` but none of these. */
const BROWSERS_ONLY = ['origin', 'sec-fetch-site', 'sec-fetch-dest'] as const

export class Refusal extends Error {
  readonly code: LocalErrorCode
  /** Joined into the answer. */
  readonly details: { message?: string; reason?: string; fieldErrors?: Record<string, string> }

  constructor(code: LocalErrorCode, details: Refusal['details'] = {}) {
    super(code)
    this.code = code
    this.details = details
  }
}

/**
 * Refuses browsers first: a page that somebody opens on the device, or a name pointed at the device, calls from
 * loopback like a program does.
 */
export function authorise(request: IncomingMessage, { sources: { api } }: DeviceFile, agentToken: string): void {
  const { headers } = request
  if (BROWSERS_ONLY.some((name) => headers[name] !== undefined)) throw new Refusal('browser_refused')
  const given = /^Bearer ([\x21-\x7e]{1,512})$/.exec(headers.authorization ?? '')?.[1]
  if (given !== undefined && isSame(given, agentToken)) return
  if (api === undefined) throw new Refusal('api_not_configured')
  if (given !== undefined && api.token !== undefined && isSame(given, api.token)) return
  if (given === undefined && !api.loopbackNeedsToken && isLoopback(request.socket.remoteAddress)) return
  throw new Refusal('token_required')
}

/** Compares hashes, so that the time it takes reveals neither content nor length. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a!, b!)
}

export async function readBody<S extends z.ZodType>(
  request: IncomingMessage,
  schema: S,
  isOptional = false,
): Promise<z.output<S>> {
  const bytes = await readBytes(request)
  if (isOptional && bytes.length === 0) return check(schema, {})
  if (!/^application\/json(?:\s*;|$)/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal('unsupported_media_type')
  const read = readJson(bytes)
  if (read.problem === 'too-complex') throw new Refusal('json_too_complex')
  if (read.problem) throw new Refusal('invalid_json')
  return check(schema, read.value)
}

/** The first of each name counts. */
export function readQuery<S extends z.ZodType>(request: IncomingMessage, schema: S): z.output<S> {
  const [, query = ''] = (request.url ?? '').split(/\?(.*)/s, 2)
  const given = [...new URLSearchParams(query)].toReversed()
  return check(schema, Object.fromEntries(given))
}

function check<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const named = parsed.error.issues.slice(0, 20).map(({ path, message }) => [path.join('.') || 'body', message])
  throw new Refusal('invalid_request', { fieldErrors: Object.fromEntries(named) as Record<string, string> })
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const late = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS)
  try {
    const parts: Buffer[] = []
    let length = 0
    // Without destroying the request on a refusal, so that this connection still carries the answer.
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

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0]!
}
