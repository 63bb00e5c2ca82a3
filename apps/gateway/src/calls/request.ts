/** Reads the parts of a request. Each function throws `Refusal`. */
import type { IncomingMessage } from 'node:http'
import { readJson } from '@hedgerow/contract/bounded-json'
import { wordsOfIssue } from '@hedgerow/contract/words'
import { GatheredBytes } from '@hedgerow/http'
import type { z } from 'zod'
import { Refusal } from './errors.ts'

const BODY_MAX_BYTES = 2 * 1024 * 1024
const BODY_TIMEOUT_MS = 30_000

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

/** A name that nothing of the device can have is not found. */
export function readParams<S extends z.ZodType>(given: Record<string, string>, schema: S): z.output<S> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw new Refusal('not_found')
  return parsed.data
}

/** The first value of each name counts. */
export function readQuery<S extends z.ZodType>(request: IncomingMessage, schema: S): z.output<S> {
  const [, query = ''] = (request.url ?? '').split(/\?(.*)/s, 2)
  const given = [...new URLSearchParams(query)].toReversed()
  return check(schema, Object.fromEntries(given))
}

function check<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, { error: wordsOfIssue })
  if (parsed.success) return parsed.data
  const named = parsed.error.issues.slice(0, 20).flatMap((issue) => {
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]
    return paths.map((path) => [path.join('.') || 'body', issue.message])
  })
  // Only the first error of a field is shown.
  throw new Refusal('invalid_request', {
    fieldErrors: Object.fromEntries(named.toReversed()) as Record<string, string>,
  })
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const late = setTimeout(() => request.destroy(), BODY_TIMEOUT_MS)
  try {
    const body = new GatheredBytes()
    // A refusal must not destroy the request, because this connection still carries the answer.
    for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      body.add(part)
      if (body.length > BODY_MAX_BYTES) throw new Refusal('payload_too_large')
    }
    return body.take()
  } finally {
    clearTimeout(late)
  }
}

export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0]!
}
