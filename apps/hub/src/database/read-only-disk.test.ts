/** Disks and databases that refuse to write: real file systems, and a real PostgreSQL. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sql } from 'kysely'
import { expect, it, onTestFinished, vi } from 'vitest'
import { hasPostgres } from '#testing/databases.ts'
import { mount, run, testFolder } from '#testing/disks.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { startPostgres } from '#testing/postgres.ts'

const WAIT = { timeout: 60_000, interval: 100 }
const READ_ONLY = "The hub's disk is read-only: it has a fault, or was mounted so."

async function running(hub: TestHub) {
  onTestFinished(() => hub.stop())
  const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
  const ready = async () => {
    const answer = await hub.app.inject({ url: '/readyz' })
    return [answer.statusCode, answer.json<{ error?: string; message?: string }>()] as const
  }
  const save = async (hubName: string) => {
    const payload = { hubName }
    const answer = await hub.app.inject({ method: 'PATCH', url: '/api/v1/hub/settings', headers, payload })
    return [answer.statusCode, answer.json<{ error?: string }>().error] as const
  }
  const read = async (url: string) => (await hub.app.inject({ url: `/api/v1${url}`, headers })).json<unknown>()
  return { ready, save, read, problems: () => read('/hub/problems') }
}

const OK = [200, { status: 'ok' }]
const unavailable = (message: string) => [503, { error: 'storage_unavailable', message }]

it('a disk that the system made read-only after a fault makes the hub unready, and nothing is lost', async ({
  skip,
}) => {
  const [disk, image] = [testFolder(), join(testFolder(), 'image')]
  run('truncate', '-s', '64M', image)
  run('mkfs.ext4', '-q', image)
  mount(disk, skip, '-o', 'loop,errors=remount-ro', image)
  const loop = basename(run('findmnt', '-n', '-o', 'SOURCE', disk))
  const data = join(disk, 'data')
  const hub = await startTestHub('sqlite', { dataDir: data, databaseUrl: `sqlite:${join(data, 'hub.sqlite')}` })
  const { ready, save, read, problems } = await running(hub)
  expect(await save('Before')).toEqual([200, undefined])
  expect(await ready()).toEqual(OK)

  writeFileSync(`/sys/fs/ext4/${loop}/trigger_fs_error`, '1')
  await vi.waitFor(async () => expect(await ready()).toEqual(unavailable(READ_ONLY)), WAIT)
  expect(await save('After')).toEqual([503, 'storage_unavailable'])
  expect(await read('/hub/settings')).toMatchObject({ hubName: 'Before' })
  expect(await problems()).toEqual([{ part: 'storage', message: READ_ONLY }])
  expect((await hub.app.inject({ url: '/livez' })).statusCode).toBe(200)
}, 120_000)

it('a SQLite file that is read-only makes the hub unready until it is not', async () => {
  const hub = await startTestHub('sqlite')
  const { ready, save, problems } = await running(hub)
  expect(await ready()).toEqual(OK)
  // SQLite's own error: attempt to write a readonly database.
  await sql`pragma query_only = on`.execute(hub.db)
  const message = "The hub's database is read-only: let the hub's user write to its file and folder."
  expect(await save('Refused')).toEqual([503, 'storage_unavailable'])
  expect(await ready()).toEqual(unavailable(message))
  expect(await problems()).toEqual([{ part: 'storage', message }])
  await sql`pragma query_only = off`.execute(hub.db)
  await vi.waitFor(async () => expect(await ready()).toEqual(OK), WAIT)
  expect(await save('Accepted')).toEqual([200, undefined])
  await vi.waitFor(async () => expect(await problems()).toEqual([]), WAIT)
})

it('a data folder that takes no file makes the hub unready; the database goes on', async ({ skip }) => {
  const disk = testFolder()
  // One inode is the folder's own, one is that of the file that fills the disk, and one is left for the probe.
  mount(disk, skip, '-t', 'tmpfs', '-o', 'size=16m,nr_inodes=3', 'tmpfs')
  const databaseUrl = `sqlite:${join(testFolder(), 'hub.sqlite')}`
  const hub = await startTestHub('sqlite', { dataDir: disk, databaseUrl })
  const { ready, save, problems } = await running(hub)
  expect(await ready()).toEqual(OK)
  expect(readdirSync(disk), 'the probe leaves nothing').toEqual([])

  run('mount', '-o', 'remount,ro', disk)
  await vi.waitFor(async () => expect(await ready()).toEqual(unavailable(READ_ONLY)), WAIT)
  expect(await save('Orchard')).toEqual([200, undefined])
  expect(await problems()).toEqual([{ part: 'storage', message: READ_ONLY }])
  run('mount', '-o', 'remount,rw', disk)
  await vi.waitFor(async () => expect(await ready()).toEqual(OK), WAIT)

  mkdirSync(join(disk, 'a'))
  mkdirSync(join(disk, 'b'))
  const message = "The hub's disk has no inode left for another file: delete files on it."
  await vi.waitFor(async () => expect(await ready()).toEqual(unavailable(message)), WAIT)
  rmSync(join(disk, 'a'), { recursive: true })
  await vi.waitFor(async () => expect(await ready()).toEqual(OK), WAIT)
  await vi.waitFor(async () => expect(await problems()).toEqual([]), WAIT)
})

it('a flood of calls to /readyz writes once in five seconds', async () => {
  const hub = await startTestHub('sqlite')
  const { ready } = await running(hub)
  const start = performance.now()
  const written = new Set<string>()
  for (let i = 0; i < 200; i += 1) {
    expect(await ready()).toEqual(OK)
    const rows = await hub.db.selectFrom('storage_probe').select('filler').execute()
    for (const { filler } of rows) written.add(filler)
  }
  expect(written.size).toBeGreaterThan(0)
  expect(written.size).toBeLessThanOrEqual(2 + Math.floor((performance.now() - start) / 5_000))
})

it.skipIf(!hasPostgres)(
  'a read-only PostgreSQL makes the hub unready until it accepts writes',
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const hub = await startTestHub('postgres', { databaseUrl: postgres.url('postgres') })
    const { ready, save, problems } = await running(hub)
    expect(await ready()).toEqual(OK)
    const setReadOnly = async (value: 'on' | 'off') => {
      await sql`alter system set default_transaction_read_only = ${sql.lit(value)}`.execute(hub.db)
      await sql`select pg_reload_conf()`.execute(hub.db)
    }
    await setReadOnly('on')
    const message = 'PostgreSQL accepts no writes: it is a standby, or was made read-only.'
    await vi.waitFor(async () => expect(await save('Refused')).toEqual([503, 'storage_unavailable']), WAIT)
    await vi.waitFor(async () => expect(await ready()).toEqual(unavailable(message)), WAIT)
    expect(await problems()).toEqual([{ part: 'storage', message }])
    await setReadOnly('off')
    await vi.waitFor(async () => expect(await ready()).toEqual(OK), WAIT)
    await vi.waitFor(async () => expect(await save('Accepted')).toEqual([200, undefined]), WAIT)
  },
  120_000,
)
