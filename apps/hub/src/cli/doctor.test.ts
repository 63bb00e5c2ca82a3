import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig, type Config } from '../config.ts'
import { openDatabase } from '../database/database.ts'
import { createTestDatabase, testEngines } from '../database/test-databases.ts'
import { examine, type Finding } from './doctor.ts'

const YEAR_MS = 365 * 86_400_000

describe.each(testEngines)('doctor on %s', (engine) => {
  const dir = mkdtempSync(join(tmpdir(), 'hub-doctor-'))
  let config: Config
  let remove: () => Promise<void>
  beforeEach(async () => {
    const made = await createTestDatabase(engine)
    remove = made.remove
    const variables = { HUB_PORT: '0', HUB_HTTPS_PORT: 'off', HUB_VPN_PORT: '0', HUB_HOST: '127.0.0.1' }
    config = readConfig({ ...variables, HUB_DATA_DIR: dir, HUB_DATABASE_URL: made.url })
    await (await openDatabase({ url: made.url })).close()
  })
  afterEach(async () => {
    await remove()
    rmSync(dir, { recursive: true, force: true })
  })

  const find = async (check: Finding['check'], change: Partial<Config> = {}) =>
    (await examine({ ...config, ...change })).filter((finding) => finding.check === check)

  it('finds nothing wrong with a new database', async () => {
    for (const check of ['database', 'clock', 'VPN', 'ports'] as const)
      expect(await find(check)).toEqual([{ check, state: 'ok', text: expect.any(String) }])
  })

  it('names a clock that is behind what the hub has written, and how to set it', async () => {
    const { db, close } = await openDatabase({ url: config.databaseUrl })
    const entry = { actor: 'hub', actor_id: null, action: 'gateway.add', target: null, source_ip: null } as const
    await db
      .insertInto('audit')
      .values({ ...entry, at: Date.now() + YEAR_MS, result: 'ok' })
      .execute()
    await close()
    const [finding] = await find('clock')
    expect(finding).toMatchObject({ state: 'FAIL', text: expect.stringContaining('the hub has written at') })
    expect(finding?.remedy).toContain('timedatectl')
  })

  it('names a VPN that is switched off, and by what', async () => {
    const [byVariable] = await find('VPN', { vpn: { ...config.vpn, backend: 'off' } })
    expect(byVariable).toMatchObject({ state: 'warn', remedy: expect.stringContaining('Unset HUB_VPN_BACKEND') })
    const { db, close } = await openDatabase({ url: config.databaseUrl })
    await db.insertInto('settings').values({ name: 'enableVpn', value: 'false' }).execute()
    await close()
    const [bySetting] = await find('VPN')
    expect(bySetting).toMatchObject({ state: 'warn', remedy: expect.stringContaining('under Settings') })
  })

  it('names certificates that cannot be read, and the variables that name them', async () => {
    const missing = join(dir, 'missing.pem')
    const [finding] = await find('certificates', { tlsFiles: { certFile: missing, keyFile: missing } })
    expect(finding).toMatchObject({ state: 'FAIL', remedy: expect.stringContaining('two variables') })
  })
})
