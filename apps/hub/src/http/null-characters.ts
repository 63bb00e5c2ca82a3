import type { FastifyInstance } from 'fastify'
import { HubError } from '../kernel/hub-error.ts'

/** What PostgreSQL keeps in no text, and no person types. */
const NULL_CHARACTER = '\0'

/**
 * Refuses, with `invalid_request`, every request that has U+0000 anywhere in its parameters, query or body: one rule on
 * both databases, and before any handler has done half of its work.
 */
export function refuseNullCharacters(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ params, query, body }) => {
    for (const part of [params, query, body]) {
      const field = fieldHoldingNull(part)
      if (field !== undefined)
        throw new HubError('invalid_request', {
          fieldErrors: { [field]: 'This holds a character that no text may hold.' },
        })
    }
  })
}

/** The outermost field that holds it, in its name or its value; undefined for none. */
function fieldHoldingNull(part: unknown): string | undefined {
  if (typeof part !== 'object' || part === null) return holdsNull(part) ? 'body' : undefined
  const [name] = Object.entries(part).find((field) => holdsNull(field)) ?? []
  return name?.replaceAll(NULL_CHARACTER, '')
}

/** Not by recursion: a body may be nested as deep as it is long. */
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
