import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startChild } from '../../../../test/harness/child-process.ts'
import { skipWithout } from '../../../../test/harness/privileges.ts'
import { waitFor } from '../../../../test/harness/wait-for.ts'
import { examine } from '../cli/doctor.ts'
import { readConfig } from '../read-config.ts'
import { openDatabase } from './database.ts'
import { DatabaseInUse, lockDatabase } from './lock.ts'
import { connectPostgres } from './postgres-endpoints.ts'
import { createTestDatabase, hasPostgres } from '#testing/databases.ts'
import { postgresOwner } from '#testing/postgres.ts'

describe.skipIf(!hasPostgres)('the lock on PostgreSQL', () => {
  const isWithoutPooler = skipWithout('the lock behind PgBouncer', 'command pgbouncer')

  /** The address of the same database through a PgBouncer of its own. */
  async function pooled(url: string, mode: 'session' | 'transaction' | 'statement', settings = ''): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'hub-pgbouncer-'))
    if (postgresOwner.uid) chownSync(folder, postgresOwner.uid, postgresOwner.gid)
    const file = join(folder, 'pgbouncer.ini')
    const [host, database] = [new URL(url).searchParams.get('host')!, new URL(url).pathname.slice(1)]
    writeFileSync(
      file,
      `[databases]
      ${database} = host=${host} user=hub
      [pgbouncer]
      listen_addr =
      listen_port = 6432
      unix_socket_dir = ${folder}
      auth_type = any
      pool_mode = ${mode}
      ${settings}
      `,
    )
    // It refuses to run as root, and this user can read its file.
    const user = postgresOwner.uid ? ['-u', 'nobody'] : []
    const pooler = await startChild('pgbouncer', [...user, file])
    onTestFinished(async () => {
      await pooler.stop()
      rmSync(folder, { recursive: true })
    })
    await pooler.says(/process up/)
    return `postgres://hub@/${database}?host=${folder}&port=6432`
  }

  async function database(): Promise<string> {
    const { url, remove } = await createTestDatabase('postgres')
    onTestFinished(remove)
    return url
  }

  test.skipIf(isWithoutPooler).each(['transaction', 'statement'] as const)(
    'a pooler with pool_mode=%s is refused in words, by doctor too, and keeps no lock',
    async (mode) => {
      const url = await database()
      for (const settings of ['', 'server_round_robin = 1', 'default_pool_size = 1']) {
        const through = await pooled(url, mode, settings)
        const attempt = lockDatabase(through, { patienceMs: 0 })
        await expect(attempt).rejects.toThrow(/^HUB_DATABASE_URL leads to a connection pooler .* pool_mode=session/)
        await expect(attempt).rejects.not.toThrow(DatabaseInUse)
        await (await lockDatabase(url, { patienceMs: 0 })).release()
        expect(
          await examine(
            readConfig({ HUB_DATABASE_URL: through, HUB_PORT: '0', HUB_HTTPS_PORT: '0', HUB_VPN_PORT: '0' }),
          ),
        ).toContainEqual(
          expect.objectContaining({
            check: 'database',
            state: 'FAIL',
            text: expect.stringMatching(/pooler/) as string,
          }),
        )
      }
    },
  )

  test.skipIf(isWithoutPooler).each([1, 2, 3, 4])(
    'a pooler that hands out %i connections in turn is refused too',
    async (count) => {
      const through = await pooled(await database(), 'transaction', 'server_round_robin = 1')
      const clients = await Promise.all(Array.from({ length: count }, () => connectPostgres(through)))
      // All at once, so that each has one of its own.
      await Promise.all(clients.map((client) => client.query('begin; select 1')))
      await Promise.all(clients.map((client) => client.query('commit')))
      await expect(lockDatabase(through, { patienceMs: 0 })).rejects.toThrow(/connection pooler/)
      await Promise.all(clients.map((client) => client.end()))
    },
  )

  test.skipIf(isWithoutPooler)('a pooler with pool_mode=session works, and two hubs are noticed', async () => {
    const url = await database()
    const through = await pooled(url, 'session')
    const lock = await lockDatabase(through)
    await expect(lockDatabase(through, { patienceMs: 0 })).rejects.toThrow(DatabaseInUse)
    await expect(lockDatabase(url, { patienceMs: 0 })).rejects.toThrow(DatabaseInUse)
    const { db, close } = await openDatabase({ url: through })
    expect(await db.selectFrom('settings').selectAll().execute()).toEqual([])
    await close()
    await lock.release()
    await waitFor(() => lockDatabase(url, { patienceMs: 0 }).then((next) => next.release().then(() => true)), {
      for: 'the lock to be free',
    })
  })

  test('a hub whose machine vanishes loses the lock, also behind a proxy that stays', async () => {
    const url = await database()
    const relay = await startRelay(`${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`)
    const through = `postgres://hub@127.0.0.1:${relay.port}${new URL(url).pathname}`
    const lock = await lockDatabase(through, { heartbeatMs: 100, silenceMs: 2_000 })
    onTestFinished(() => lock.release())
    // It lives, and keeps the lock for longer than it may be silent.
    await expect(lockDatabase(url, { patienceMs: 2_500 })).rejects.toThrow(DatabaseInUse)
    relay.freeze()
    await (await lockDatabase(url, { patienceMs: 20_000 })).release()
  })
})

/** A proxy before a socket; once frozen it passes nothing on, keeps its connections and takes no others. */
async function startRelay(path: string): Promise<{ port: number; freeze(): void }> {
  const sockets = new Set<Socket>()
  const relay = createServer((client) => {
    const server = connect(path)
    for (const socket of [client, server]) sockets.add(socket.on('error', () => {}))
    client.pipe(server)
    server.pipe(client)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    relay.close()
  })
  await waitFor(() => relay.listening, { for: 'the relay' })
  return {
    port: (relay.address() as { port: number }).port,
    freeze() {
      relay.close()
      for (const socket of sockets) socket.unpipe().pause()
    },
  }
}
