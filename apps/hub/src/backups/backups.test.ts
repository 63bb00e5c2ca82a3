import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as contract from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { examine } from '../cli/doctor.ts'
import { restoreDatabase } from '../database/backup.ts'
import { openDatabase } from '../database/database.ts'
import { readConfig } from '../read-config.ts'

const HOUR_MS = 3_600_000
const TOKEN = 'a-token-for-metrics'

describe.each(testEngines)('backups on a schedule, %s', (engine) => {
  let root: string
  let dir: string
  let url: string
  let remove: () => Promise<void>
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'hub-schedule-'))
    dir = join(root, 'backups')
    mkdirSync(dir, { mode: 0o700 })
    ;({ url, remove } = await createTestDatabase(engine))
  })
  afterEach(async () => {
    await hub.stop()
    await remove()
    rmSync(root, { recursive: true, force: true })
  })

  const start = async (keep = 7, diskReserveBytes = 1_000_000) => {
    hub = await startTestHub(engine, {
      databaseUrl: url,
      diskReserveBytes,
      backups: { dir, times: { hours: 24 }, keep },
      metrics: { token: TOKEN, port: undefined, host: '', gateways: false },
    })
    hub.clock.freeze()
    await hub.app.ready()
    api = createTestApi(hub)
  }
  const files = () => readdirSync(dir).toSorted()
  const nextDay = async () => {
    hub.clock.advance(24 * HOUR_MS)
    await hub.backups.look()
  }
  const problemsFor = async (role: contract.Role) =>
    ((await api(contract.hubProblems, { token: await hub.signIn(role) })).body as { part: string; message: string }[])
      .filter(({ part }) => part === 'backup')
      .map(({ message }) => message)
  const metric = async (name: string) => {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { body } = await hub.app.inject({ url: '/metrics', headers })
    return Number(new RegExp(`^${name} (.+)$`, 'm').exec(body)?.[1])
  }
  const doctor = async (change: Record<string, string> = {}) => {
    const variables = { HUB_DATABASE_URL: url, HUB_BACKUP_DIR: dir, HUB_PORT: '1', HUB_VPN_BACKEND: 'off', ...change }
    const findings = await examine(readConfig(variables))
    return findings.find(({ check }) => check === 'backups')
  }

  test('makes one at once, which only its owner reads and which restores, none before the next is due', async () => {
    await start()
    expect(await metric('hedgerow_backup_age_seconds')).toBeNaN()
    await hub.addUser('rosa', 'user', 'gravel-lantern-42')
    await hub.backups.look()
    const [file] = files()
    expect(files()).toEqual([expect.stringMatching(/^hedgerow-[\dT-]+Z-[\da-f]{4}\.backup$/)])
    expect(statSync(join(dir, file!)).mode & 0o777).toBe(0o600)
    hub.clock.advance(23 * HOUR_MS)
    await hub.backups.look()
    expect(files()).toEqual([file])
    expect(await metric('hedgerow_backup_age_seconds')).toBe((23 * HOUR_MS) / 1_000)
    expect(await metric('hedgerow_backup_trouble')).toBe(0)
    expect(await problemsFor('admin')).toEqual([])
    expect(await doctor()).toMatchObject({
      state: 'ok',
      text: `the newest is less than an hour old; 1 of at most 7 in ${dir}`,
    })

    const target = `sqlite:${join(root, 'restored.sqlite')}`
    await restoreDatabase(target, join(dir, file!))
    const { db, close } = await openDatabase({ url: target })
    expect(await db.selectFrom('users').select('username').where('username', '=', 'rosa').execute()).toHaveLength(1)
    await close()
  })

  test('keeps the newest ones, and deletes no file that it did not make or that was changed', async () => {
    await start(2)
    writeFileSync(join(dir, 'hedgerow-2020-01-01T00-00-00Z-0000.backup'), 'of another hub')
    await hub.backups.look()
    const [, first] = files()
    await nextDay()
    const second = files().at(-1)!
    appendFileSync(join(dir, second), ' ')
    await nextDay()
    expect(files()).not.toContain(first)
    await nextDay()
    await nextDay()
    expect(files()).toHaveLength(4)
    expect(files()).toEqual(expect.arrayContaining(['hedgerow-2020-01-01T00-00-00Z-0000.backup', second]))
  })

  test('one that fails says why, everywhere, until the folder is back', async () => {
    await start()
    await hub.backups.look()
    rmSync(dir, { recursive: true })
    await nextDay()
    const message = `The backup fails: there is no folder ${dir}. The newest is 24 hours old.`
    expect(existsSync(dir), 'the folder of a disk that is not mounted stays missing').toBe(false)
    expect(await problemsFor('admin')).toEqual([message])
    expect(await problemsFor('manager')).toEqual([])
    expect(await metric('hedgerow_backup_trouble')).toBe(1)
    expect(await doctor()).toMatchObject({ state: 'FAIL', text: expect.stringContaining('there is no folder') })
    const alerts = () => hub.db.selectFrom('alerts').select(['kind', 'lines']).where('kind', '=', 'backup').execute()
    expect(await alerts()).toEqual([{ kind: 'backup', lines: expect.stringContaining(message) }])
    await hub.backups.look()
    expect(await alerts()).toHaveLength(1)

    mkdirSync(dir, { mode: 0o700 })
    expect(await doctor()).toMatchObject({ state: 'FAIL', text: expect.stringContaining('there is no folder') })
    await hub.backups.look()
    expect(await doctor()).toMatchObject({ state: 'ok' })
    expect(files()).toHaveLength(1)
    expect(await problemsFor('admin')).toEqual([])
    expect(await metric('hedgerow_backup_trouble')).toBe(0)
  })

  test('a disk without room for it and for the hub gets none', async () => {
    await start(7, Number.MAX_SAFE_INTEGER)
    await hub.backups.look()
    expect(files()).toEqual([])
    expect(await problemsFor('admin')).toEqual([expect.stringMatching(/ is full: .+ are free, and a backup needs /)])
    expect(await doctor({ HUB_DATA_DIR: root, HUB_DISK_RESERVE_MB: '9999999' })).toMatchObject({
      state: 'FAIL',
      text: expect.stringMatching(/ is full: .+ are free, and a backup needs .+; there is none yet$/),
      remedy: expect.stringContaining('HUB_BACKUP_DIR'),
    })
  })

  test('a folder that everybody can write to gets none', async () => {
    chmodSync(dir, 0o777)
    await start()
    await hub.backups.look()
    expect(files()).toEqual([])
    expect(await problemsFor('admin')).toEqual([
      `The backup fails: every user of this machine can write to ${dir}. There is none yet.`,
    ])
  })

  test('a copy that a crash left half is removed, and one whose record it left open is kept', async () => {
    await start()
    const [half, whole] = ['half', 'whole'].map((name) => join(dir, `${name}.backup`)) as [string, string]
    writeFileSync(`${half}.unfinished`, 'half')
    writeFileSync(whole, 'whole')
    const begunAt = hub.clock.now() - HOUR_MS
    for (const file of [half, whole]) await hub.db.insertInto('backups').values({ file, begun_at: begunAt }).execute()
    await hub.backups.look()
    expect(files()).toEqual(['whole.backup'])
    expect(hub.backups.state()).toEqual({ ageMs: HOUR_MS, trouble: undefined })
  })
})
