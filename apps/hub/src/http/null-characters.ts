import type { FastifyInstance } from 'fastify'
import { HubError } from '../kernel/hub-error.ts'

/** PostgreSQL stores it in no text, and nobody types it. */
const NULL_CHARACTER = '\0'
/** The only way to write it in JSON (RFC 8259 §7). */
const ESCAPED = String.raw`\u0000`

/**
 * Refuses, with `invalid_request`, every request with U+0000 in its parameters, query or body: the same rule on both
 * databases, before any handler has begun.
 */
export function refuseNullCharacters(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query, body, rawBody }) => {
    refuseNullIn(params)
    refuseNullIn(query)
    if (rawBody) refuseNullInJson(rawBody, body)
    else refuseNullIn(body)
  })
}

/** `parsed` is the value of `json`. Throws `invalid_request`. */
function refuseNullInJson(json: Buffer, parsed: unknown): void {
  // Few have the escape, so few are walked.
  if (json.includes(ESCAPED, 0, 'latin1')) refuseNullIn(parsed)
}

function refuseNullIn(part: unknown): void {
  const field = fieldHoldingNull(part)
  if (field === undefined) return
  const fieldErrors = { [field]: 'This holds a character that no text may hold.' }
  throw new HubError('invalid_request', { fieldErrors })
}

/** The outermost field that holds it, in its name or its value; undefined when there is none. */
function fieldHoldingNull(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null) return holdsNull(part) ? 'body' : undefined
  const [name] = Object.entries(part).find((field) => holdsNull(field)) ?? []
  return name?.replaceAll(NULL_CHARACTER, '')
}

/** Iterative, because a body may be nested very deep. */
function holdsNull(value: unknown): boolean {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next === 'string' && next.includes(NULL_CHARACTER)) return true
    if (typeof next === 'object' && next !== null)
      for (const [name, inner] of Object.entries(next)) waiting.push(name, inner)
  }
  return false
}
