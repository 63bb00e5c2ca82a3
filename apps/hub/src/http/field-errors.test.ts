import { errorBody, loginTwoFactor, type ErrorBody } from '@hedgerow/contract'
import { calls } from '@hedgerow/contract/calls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'

/** The validator's own default sentences. */
const NOT_FOR_PEOPLE =
  /\b(Invalid (input|option|string|key)|expected|received|undefined|Unrecognized|Too (big|small))\b/

describe('an invalid request', () => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    api = createTestApi(hub)
    token = await hub.signIn('admin')
  })
  afterAll(() => hub.stop())

  const withBody = Object.entries(calls).filter(([, { body }]) => body !== undefined)

  test.each(withBody)('of %s names each missing or wrong field, in words', async (_name, call) => {
    const { shape = {} } = call.body as unknown as { shape?: object }
    const fields = Object.keys(shape)
    let refused = 0
    // One person may not ask so often in a minute.
    hub.clock.advance(10_000)
    const wrong = Object.fromEntries(fields.map((name) => [name, { no: ['such', 'thing'] }]))
    for (const body of [{}, [], wrong, { surplus: true }]) {
      const answer = await api(call, { token, body, params: Object.fromEntries(paramsOf(call.path)) as never })
      const { error, fieldErrors = {} } = answer.body as ErrorBody
      // Gateways' calls are refused for their signature first, and some calls accept an empty body.
      if (error !== 'invalid_request') continue
      refused++
      expect(errorBody.safeParse(answer.body).success).toBe(true)
      expect(Object.keys(fieldErrors)).not.toEqual([])
      for (const words of Object.values(fieldErrors)) expect(words).not.toMatch(NOT_FOR_PEOPLE)
    }
    expect(refused > 0 || call.path.startsWith('/v1/gateway/')).toBe(true)
  })

  test('says which field is missing', async () => {
    expect((await api(loginTwoFactor, { body: {} })).body).toEqual({
      error: 'invalid_request',
      message: 'The request is not valid.',
      fieldErrors: { challenge: 'This field is missing', code: 'Enter the code' },
    })
  })

  test('names the error of a body of another type, and of an address', async () => {
    const noBody = await hub.app.inject({ method: 'POST', url: '/api/v1/auth/login/two-factor' })
    expect(noBody.json<ErrorBody>().fieldErrors).toEqual({ body: 'Must be an object' })
    const address = await hub.app.inject({
      url: '/api/v1/admin/audit?limit=many&format=pdf',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(address.json<ErrorBody>().fieldErrors).toEqual({ limit: 'Must be a number', format: 'Must be json or csv' })
  })
})

/** A valid value for each path parameter, so that the body is checked. */
function paramsOf(path: string): [string, string][] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, name === 'registrationId' ? 'a'.repeat(20) : ID])
}
const ID = 'aaaaaaaaaaaa'
