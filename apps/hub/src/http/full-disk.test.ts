import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { startTestHub } from './test-hub.ts'

const CALLS_MAX = 2_000

it('a hub whose disk is full refuses writes with 503, goes on with the rest, and recovers by itself', async () => {
  const hub = await startTestHub('sqlite')
  const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  const write = async () => {
    const payload = { label: 'x'.repeat(100) }
    const { statusCode, body } = await hub.app.inject({
      method: 'POST',
      url: '/api/v1/admin/gateway-invitations',
      headers,
      payload,
    })
    return { statusCode, error: (JSON.parse(body) as { error?: string }).error }
  }
  const read = async (url: string) => (await hub.app.inject({ url, headers })).statusCode
  const { page_count: pages } = (await sql<{ page_count: number }>`pragma page_count`.execute(hub.db)).rows[0]!

  await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(hub.db)
  let answer = await write()
  for (let i = 0; i < CALLS_MAX && answer.statusCode === 200; i++) answer = await write()
  expect(answer).toEqual({ statusCode: 503, error: 'storage_unavailable' })
  expect(await read('/api/v1/auth/validate'), 'who is signed in stays so').toBe(200)
  expect(await read('/api/v1/hub/gateways')).toBe(200)
  expect(hub.vpn.disabledReason, 'the tunnel goes on').toBeUndefined()

  await sql`pragma max_page_count = ${sql.lit(pages * 100)}`.execute(hub.db)
  expect((await write()).statusCode).toBe(200)
  await hub.stop()
}, 120_000)
