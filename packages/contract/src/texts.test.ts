import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { Call } from './call.ts'
import * as contract from './index.ts'

const HOSTILE_CHARACTERS =
  '\n \r\n \t \0 \u0007 \u007f \u0085 \u009b \u2028 \u2029 \u200b \u200d \u200e \u202e \u2066 \u061c \ufeff ' +
  '\u00ad \u3164 \u{e0041} \u{e0100} \ufe0f \ufff9 \ud800'
const HOSTILE = HOSTILE_CHARACTERS.split(' ').map((character) => `a${character}b`)

/** Texts that are never shown: they are compared, hashed, decoded or searched for. */
const NEVER_SHOWN =
  /(^|\.)(password|currentPassword|newPassword|code|challenge|inviteCode|invitationCode|token|ticket|answer|link|logout_token|provider|q|cursor|actor|action|detectionId)$|^deleteGateway\.name$|^createGatewayLabels\.csv$/
/** Fields of several lines. */
const SEVERAL_LINES = /(^|\.)(description|hubDescription|notes)$/

type Field = { path: string; schema: z.ZodType }

/** Each text inside a schema. */
function textsIn(schema: z.ZodType, path: string): Field[] {
  const { def } = schema as unknown as { def: { type: string } & Record<string, unknown> }
  const inner = (key: string) => textsIn(def[key] as z.ZodType, path)
  switch (def.type) {
    case 'string':
      return [{ path, schema }]
    case 'object':
      return Object.entries(def['shape'] as Record<string, z.ZodType>).flatMap(([name, field]) =>
        textsIn(field, `${path}.${name}`),
      )
    case 'array':
      return textsIn(def['element'] as z.ZodType, path)
    case 'union':
      return (def['options'] as z.ZodType[]).flatMap((option) => textsIn(option, path))
    case 'pipe':
      // The value of a pipe has passed both schemas.
      return inner('in').map(() => ({ path, schema }))
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return inner('innerType')
    default:
      return []
  }
}

const calls = Object.entries<unknown>(contract).filter(
  (entry): entry is [string, Call] => typeof entry[1] === 'object' && entry[1] !== null && 'method' in entry[1],
)
const texts = [
  ...calls.flatMap(([name, { params, query, body }]) =>
    [params, query, body].flatMap((part) => (part ? textsIn(part, name) : [])),
  ),
  ...textsIn(contract.sealedRegistration, 'sealedRegistration'),
].filter(({ path }) => !NEVER_SHOWN.test(path))

describe('a text for mails, files and logs', () => {
  it('is found in every schema', () => expect(texts.length).toBeGreaterThan(40))

  it.each(texts.map(({ path, schema }) => [path, schema] as const))(
    '%s never contains a line break or an invisible character',
    (path, schema) => {
      const isLong = SEVERAL_LINES.test(path)
      const kept = HOSTILE.filter((text) => !isLong || !/[\n\t]/.test(text)).filter((text) => {
        // Some fields have a minimum length.
        const sent = text.padEnd(12, 'x')
        const parsed = schema.safeParse(sent)
        return parsed.success && parsed.data === sent
      })
      expect(kept).toEqual([])
    },
  )

  it('keeps letters of any script, marks and emoji', () => {
    for (const text of ['Obstgarten Süd 果园', 'شمال', 'Cafe\u0301', 'Barn ❤\ufe0f 🐑', 'नमस्ते'])
      expect([contract.oneLine(100).parse(text), contract.cleanLine(100).parse(text)]).toEqual([text, text])
    expect(contract.severalLines(100).parse('One\r\nTwo\n\tthree')).toBe('One\nTwo\n\tthree')
  })

  it('is cleaned when it comes from a device, so that the device can still report', () => {
    expect(contract.cleanLine(100).parse(' Barn\r\n\u202edoor\u200b ')).toBe('Barn door')
  })
})
