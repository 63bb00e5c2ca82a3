import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { hasPostgres } from '#testing/databases.ts'
import { startTestHub } from '#testing/hub.ts'
import { startPostgres } from '#testing/postgres.ts'

const WRITERS = 4
const WRITTEN_EACH = 10
const PAUSE_MS = 5

it.skipIf(!hasPostgres)(
  'a hub whose PostgreSQL is restarted under load says so, recovers by itself, and has what it acknowledged, once',
  async () => {
    const postgres = await startPostgres()
    const hub = await startTestHub('postgres', { databaseUrl: postgres.url('postgres') })
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const url = '/api/v1/admin/gateway-invitations'
    const acknowledged: string[] = []
    const refusals = new Set<string>()
    const restarting = Promise.withResolvers<void>()
    let isBack = false

    /** Writes until it has written enough before and after the restart. */
    async function write(writer: number): Promise<void> {
      for (let count = 0, before = 0, after = 0; after < WRITTEN_EACH; count++) {
        const label = `${writer}/${count}`
        const wasBack = isBack
        const { statusCode, body } = await hub.app.inject({ method: 'POST', url, headers, payload: { label } })
        if (statusCode === 200) {
          acknowledged.push(label)
          if (++before === WRITTEN_EACH && writer === 0) restarting.resolve()
          if (wasBack) after++
        } else {
          refusals.add(`${statusCode} ${(JSON.parse(body) as { error?: string }).error}`)
          await sleep(PAUSE_MS)
        }
      }
    }

    const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    await restarting.promise
    await postgres.restart()
    isBack = true
    await writing

    expect([...refusals]).toEqual(['503 storage_unavailable'])
    const rows = await hub.db.selectFrom('gateway_invitations').select('label').execute()
    const labels = rows.map(({ label }) => label)
    expect(new Set(labels).size, 'nothing doubled').toBe(labels.length)
    expect(labels, 'nothing lost').toEqual(expect.arrayContaining(acknowledged))
    expect((await hub.app.inject('/readyz')).statusCode).toBe(200)
    await hub.stop()
    await postgres.stop()
  },
  120_000,
)
