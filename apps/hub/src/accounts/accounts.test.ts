import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testEngines } from '../database/test-databases.ts'
import { startTestHub, type TestHub } from '../http/test-hub.ts'

describe.each(testEngines)('accounts on %s', (engine) => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startTestHub(engine)
    await hub.addUser('Walker', 'manager', 'a long password')
  })
  afterAll(() => hub.stop())

  let address = 0
  /** Each from an address of its own, so that one test's failures do not slow another. */
  const signIn = (payload: unknown, remoteAddress = `192.0.2.${++address}`) =>
    hub.app.inject({ method: 'POST', url: '/api/v1/auth/login', payload: payload as object, remoteAddress })
  const validate = (token: string) =>
    hub.app.inject({ method: 'GET', url: '/api/v1/auth/validate', headers: { authorization: `Bearer ${token}` } })
  const freshToken = async () =>
    (await signIn({ username: 'walker', password: 'a long password' })).json<{ accessToken: string }>().accessToken

  test('the right password opens a session for the person it belongs to', async () => {
    const response = await signIn({ username: 'Walker', password: 'a long password' })
    expect(response.statusCode).toBe(200)
    const { accessToken, user } = response.json<{ accessToken: string; user: unknown }>()
    expect(user).toEqual({
      id: expect.any(String),
      username: 'Walker',
      email: '',
      firstName: '',
      lastName: '',
      role: 'manager',
    })
    expect((await validate(accessToken)).json()).toEqual(user)
  })
})
