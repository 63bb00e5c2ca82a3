import * as contract from '@hedgerow/contract'
import { calls as everyCall } from '@hedgerow/contract/calls'
import type { Call } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nextAddress } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

/** Strings that only an attacker sends. */
const STRINGS = [
  'a\u0000b',
  '\u0000',
  '\ud800',
  '\u202e\ufffe',
  'é'.repeat(60),
  '__proto__',
  "'; drop table users; --",
  '%',
  '9'.repeat(15),
  '-1',
  '1e400',
]
const NUMBERS = [-1, 0, 1.5, 1e308, 2 ** 31, 2 ** 53]
const CURSORS = [
  '[1e999,1]',
  '[0.5,0.5]',
  '[1,1e21]',
  String.raw`["\u0000","\u0000"]`,
  String.raw`["\u0000"]`,
  '[{},[]]',
]

/** All calls except an endless stream, requested without values. */
const calls = Object.values(everyCall).filter((call) => call !== contract.hubEvents)

type JsonSchema = {
  type?: string
  properties?: Record<string, JsonSchema>
  enum?: unknown[]
  anyOf?: JsonSchema[]
  format?: string
  minimum?: number
}
type Values = Record<string, unknown>
type Sent = { params?: Values; query?: Values; body?: unknown }

const fieldsOf = (schema: z.ZodType | undefined): Record<string, JsonSchema> =>
  schema ? ((z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema).properties ?? {}) : {}

/** A value of the right type, and often one that is accepted. */
function sampleOf(schema: JsonSchema): unknown {
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf.at(-1) ?? {})
  if (schema.type === 'array') return []
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1)
  return schema.format === 'email' ? 'rosa@example.org' : 'orchard-lantern-42'
}

/** For each value of a call, a request with that value hostile and the others valid. */
function* hostileRequests(call: Call): Generator<Sent> {
  const sample = Object.fromEntries(Object.entries(fieldsOf(call.body)).map(([name, field]) => [name, sampleOf(field)]))
  const withBody = call.body && { body: sample }
  yield { ...withBody }
  for (const [, name = ''] of call.path.matchAll(/:(\w+)/g))
    for (const value of STRINGS) yield { ...withBody, params: { [name]: value } }
  for (const name of Object.keys(fieldsOf(call.query))) {
    const cursors = name === 'cursor' ? CURSORS.map((text) => Buffer.from(text).toString('base64url')) : []
    for (const value of [...STRINGS, ...NUMBERS, ...cursors]) yield { ...withBody, query: { [name]: value } }
  }
  if (!call.body) return
  yield { body: '['.repeat(30_000) + ']'.repeat(30_000) }
  yield { body: '{"__proto__":{"role":"admin"}}' }
  for (const [name, value] of Object.entries(sample))
    for (const hostile of [...STRINGS, ...NUMBERS, null, [], {}, [null]])
      yield { body: { ...sample, [name]: Array.isArray(value) ? [hostile] : hostile } }
}

describe.each(testEngines)('hostile values on %s', (engine) => {
  let hub: TestHub
  let adminId: string
  beforeAll(async () => {
    hub = await startTestHub(engine, { vpn: { backend: 'off', port: 0, endpointHost: undefined, offload: true } })
    adminId = await hub.addUser('rosa', 'admin', 'orchard-lantern-43')
  })
  beforeEach(async () => {
    // One call's changes must not stop the next.
    await hub.db.deleteFrom('settings').execute()
  })
  afterAll(() => hub.stop())

  let token: string | undefined
  const signIn = () => hub.sessions.start({ id: adminId }, { sourceIp: '127.0.0.1', userAgent: 'test' })

  /** Asks again what was refused unread. */
  async function ask(call: Call, gatewayId: string, sent: Sent) {
    for (let tries = 1; ; tries++) {
      token ??= await signIn()
      const answer = await send(call, gatewayId, sent)
      if (tries === 3) return answer
      // Past the waits after writes and wrong passwords.
      if (answer.statusCode === 429) hub.clock.advance(900_000)
      // Sessions end by themselves, and by some of the calls.
      else if (answer.statusCode === 401 && answer.body.includes('"error":"session_')) token = undefined
      else return answer
    }
  }

  function send(call: Call, gatewayId: string, { params, query, body }: Sent) {
    const path = call.path.replaceAll(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(String(params?.[name] ?? gatewayId).toWellFormed()),
    )
    return hub.app.inject({
      method: call.method,
      url: `/api${path}`,
      remoteAddress: nextAddress(),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(query && { query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])) }),
      ...(body !== undefined && { payload: body as object }),
    })
  }

  test.each(calls.map((call) => [`${call.method} ${call.path}`, call] as const))(
    '%s accepts or refuses each, and never fails',
    async (_name, call) => {
      const gatewayId = await insertTestGateway(hub.db)
      const failed: string[] = []
      for (const sent of hostileRequests(call)) {
        const { statusCode, body } = await ask(call, gatewayId, sent)
        if (statusCode >= 500 || statusCode === 429)
          failed.push(`${statusCode} ${body} for ${JSON.stringify(sent).slice(0, 200)}`)
      }
      expect(failed).toEqual([])
    },
  )

  test('a null character is refused by the name of its field', async () => {
    const refused = await ask(contract.login, '', { body: { username: 'ro\u0000sa', password: 'orchard-lantern-42' } })
    expect(refused.statusCode).toBe(400)
    expect(refused.json()).toMatchObject({
      error: 'invalid_request',
      fieldErrors: { username: 'This holds a character that no text may hold.' },
    })
  })
})
