import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { calls as everyCall } from './calls.ts'
import * as contract from './index.ts'

const calls = Object.entries(everyCall)

describe('the calls', () => {
  it('have different methods and paths', () => {
    const routes = calls.map(([, { method, path }]) => `${method} ${path}`)
    expect(routes.length).toBeGreaterThan(15)
    expect(new Set(routes).size).toBe(routes.length)
  })

  it.each(calls)('%s declares exactly the parameters of its path', (_name, { path, params }) => {
    const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
    const declared = params && 'shape' in params ? Object.keys(params.shape as object) : []
    expect(declared).toEqual(named)
  })

  // A provider may send more (OpenID Connect Back-Channel Logout 1.0, section 2.5).
  const own = calls.filter(([name, { body }]) => body && name !== 'backChannelLogout')
  it.each(own)('%s refuses a field that it does not declare', (_name, { body }) => {
    const issues = body!.safeParse({ surplus: 1 }).error?.issues ?? []
    expect(issues.map(({ code }) => code)).toContain('unrecognized_keys')
  })
})

type Node = { path: string; schema: z.ZodType }

/** `schema` and every schema inside it. */
function* inside({ path, schema }: Node, seen = new Set<unknown>()): Generator<Node> {
  if (seen.has(schema)) return
  seen.add(schema)
  yield { path, schema }
  for (const [name, part] of Object.entries(schema.def as unknown as Record<string, unknown>))
    for (const [key, inner] of partsOf(part)) yield* inside({ path: `${path}.${name}${key}`, schema: inner }, seen)
}

function partsOf(part: unknown): [string, z.ZodType][] {
  if (part instanceof z.ZodType) return [['', part]]
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).filter((entry): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType)
}

const asked = calls.flatMap(([name, { params, query, body }]) =>
  Object.entries({ params, query, body }).flatMap(([part, schema]) =>
    schema ? [{ path: `${name} ${part}`, schema }] : [],
  ),
)

describe('a request', () => {
  const parts = asked.flatMap((node) => [...inside(node)])

  it('has a minimum and a maximum for every number', () => {
    const numbers = parts.filter(({ schema }) => schema instanceof z.ZodNumber)
    expect(numbers.length).toBeGreaterThan(15)
    const isBound = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
    const unbounded = numbers.filter(({ schema }) => {
      const { minValue, maxValue } = schema as z.ZodNumber
      return !isBound(minValue) || !isBound(maxValue)
    })
    expect(unbounded.map(({ path }) => path)).toEqual([])
  })

  it('has a maximum length for every list', () => {
    const lists = parts.filter(({ schema }) => schema instanceof z.ZodArray)
    expect(lists.length).toBeGreaterThan(5)
    const hasMaximum = (schema: z.ZodType) => schema.def.checks?.some(({ _zod }) => 'maximum' in _zod.def)
    const unbounded = lists.filter(({ schema }) => !hasMaximum(schema))
    expect(unbounded.map(({ path }) => path)).toEqual([])
  })

  it('accepts no NaN, no infinity and no extreme number', () => {
    const numbers = parts.filter(({ schema }) => schema instanceof z.ZodNumber)
    const taken = numbers.flatMap(({ path, schema }) =>
      [Number.NaN, Infinity, -Infinity, 1.7e308, -1.7e308]
        .filter((value) => schema.safeParse(value).success)
        .map((value) => `${value} for ${path}`),
    )
    expect(taken).toEqual([])
  })

  it('accepts no time before 1970 or after the year 9999', () => {
    expect(contract.moment.safeParse('1970-01-01T00:00:00Z').success).toBe(true)
    expect(contract.moment.safeParse('9999-12-31T23:59:59.999Z').success).toBe(true)
    for (const text of [
      '0001-01-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '+275760-09-13T00:00:00Z',
      `2026-01-01T00:00:00.${'0'.repeat(60_000)}Z`,
    ])
      expect(contract.moment.safeParse(text).success, text.slice(0, 40)).toBe(false)
  })
})

it('describes the values of a field in words', () => {
  const said = (schema: { safeParse: (value: unknown) => { error?: { issues: { message: string }[] } } }) =>
    [0, 2.5, 'x', Number.NaN, 10_001].map((value) => schema.safeParse(value).error?.issues[0]?.message)
  expect(said(contract.wholeNumber(1, 10_000))).toEqual(Array(5).fill('Enter a whole number from 1 to 10,000'))
  expect(contract.oneLine(3).safeParse('four').error?.issues[0]?.message).toBe('At most 3 characters')
})

describe('a gateway name', () => {
  it('is trimmed, and keeps letters of any script', () => {
    expect(contract.gatewayName.parse('  Obstgarten Süd 果园 ')).toBe('Obstgarten Süd 果园')
  })

  it.each(['', '   ', 'line\nbreak', 'bell\u0007', 'right-to-left \u202e override', 'x'.repeat(101)])(
    'is refused: %j',
    (name) => {
      expect(contract.gatewayName.safeParse(name).success).toBe(false)
    },
  )
})

describe('a device token', () => {
  it('may have spaces around it and lower case when a person types it', () => {
    const claim = contract.claimGateway.body.parse({ deviceToken: ' dt-0123456789ab ' })
    expect(claim.deviceToken).toBe('DT-0123456789AB')
  })

  it('is DT- and twelve upper-case hexadecimal digits', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(contract.deviceToken.safeParse(text).success).toBe(/^DT-[0-9A-F]{12}$/.test(text))
      }),
    )
  })
})

describe('a key of a registration', () => {
  const challenge = (identityPublicKey: string) =>
    contract.registerChallenge.body.safeParse({ identityPublicKey, wireguardPublicKey: 'A'.repeat(43) + '=' }).success

  it('is 32 bytes as base64', () => expect(challenge(Buffer.alloc(32, 7).toString('base64'))).toBe(true))

  it.each([0, 31, 33, 64])('is not %i bytes', (length) => {
    expect(challenge(Buffer.alloc(length, 7).toString('base64'))).toBe(false)
  })

  it('has one spelling: unused bits are zero', () => {
    expect(challenge(`${'A'.repeat(42)}B=`)).toBe(false)
  })
})

describe('the error table', () => {
  it('gives every code a client or server error status and a sentence', () => {
    for (const { status, message } of Object.values(contract.errorTable)) {
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(600)
      expect(message).toMatch(/[.?]$/)
    }
  })
})
