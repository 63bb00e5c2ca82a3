import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { issueAuthority, issueServerCertificate } from '../certificates/issue.ts'
import { createHub } from '../hub.ts'
import type { Config } from '../config.ts'
import { readConfig } from '../read-config.ts'
import { openDatabase } from '../database/database.ts'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { startPostgres } from '#testing/postgres.ts'
import { examine } from './doctor.ts'
import type { Finding } from './finding.ts'

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

  it('names a clock that is behind the hub’s last write, and how to set it', async () => {
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

  it('passes over a clock that was ahead once and is right since, and says so', async () => {
    const { db, close } = await openDatabase({ url: config.databaseUrl })
    const entry = { actor: 'hub', actor_id: null, action: 'gateway.add', target: null, source_ip: null } as const
    for (const at of [Date.now() + YEAR_MS, Date.now()])
      await db
        .insertInto('audit')
        .values({ ...entry, at, result: 'ok' })
        .execute()
    await db.insertInto('hub_clock').values({ id: 1, seen_at: Date.now(), hold_ms: 0 }).execute()
    const [finding] = await find('clock')
    expect(finding?.state).not.toBe('FAIL')
    expect(finding?.text).toContain('it was ahead once: entries say')
    await db
      .updateTable('hub_clock')
      .set({ seen_at: Date.now() + YEAR_MS })
      .execute()
    await close()
    expect(await find('clock')).toMatchObject([{ state: 'FAIL', remedy: expect.stringContaining('next start') }])
  })

  it('does not call an empty database old', async () => {
    const made = await createTestDatabase(engine, { isEmpty: true })
    if (engine === 'sqlite') writeFileSync(made.url.slice('sqlite:'.length), '')
    expect(await find('database', { databaseUrl: made.url })).toEqual([
      { check: 'database', state: 'ok', text: 'it is empty: the first start makes its tables' },
    ])
    await expect(openDatabase({ url: made.url, mayMigrate: false })).rejects.toThrow('The database is empty')
    await made.remove()
  })

  it('names a VPN that is off, and the variable or setting', async () => {
    const [byVariable] = await find('VPN', { vpn: { ...config.vpn, backend: 'off' } })
    expect(byVariable).toMatchObject({ state: 'warn', remedy: expect.stringContaining('Unset HUB_VPN_BACKEND') })
    const { db, close } = await openDatabase({ url: config.databaseUrl })
    await db.insertInto('settings').values({ name: 'enableVpn', value: 'false' }).execute()
    await close()
    const [bySetting] = await find('VPN')
    expect(bySetting).toMatchObject({ state: 'warn', remedy: expect.stringContaining('under Settings') })
  })

  it('says that a running hub answers, and what it lacks when it is not ready', async () => {
    const hub = await createHub({ config, log: pino({ level: 'silent' }) })
    try {
      const { port } = await hub.start()
      expect(await find('ports', { port })).toEqual([
        { check: 'ports', state: 'ok', text: `the hub is running and answers on port ${port}` },
      ])
      const [silent] = await find('ports', { port: 1 })
      expect(silent).toMatchObject({ state: 'FAIL', remedy: expect.stringContaining('HUB_PORT') })

      const settings = { enabled: true, networkCidr: hub.vpn.network }
      await hub.vpn.configure({ ...settings, enabled: false })
      const occupant = createSocket('udp6').bind(hub.vpn.port, '::')
      await once(occupant, 'listening')
      await hub.vpn.configure(settings).catch(() => {})
      occupant.close()
      expect((await find('VPN', { port })).at(-1)).toEqual({
        check: 'VPN',
        state: 'FAIL',
        text: 'the hub that runs says: The hub is not ready: the VPN could not be started.',
        remedy: expect.stringContaining('HUB_VPN_PORT'),
      })
    } finally {
      await hub.stop()
    }
  })

  it('names each port that is taken, and the variable that moves it', async () => {
    const tcp = createServer().listen(0, '127.0.0.1')
    const udp = createSocket('udp6').bind(0)
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')])
    const { port } = tcp.address() as AddressInfo
    const vpn = { ...config.vpn, port: udp.address().port }
    const found = await find('ports', { port, httpsPort: port, metrics: { ...config.metrics, port }, vpn })
    tcp.close()
    udp.close()
    expect(found.map(({ state, remedy }) => [state, /HUB_\w+/.exec(remedy ?? '')?.[0]])).toEqual(
      ['HUB_PORT', 'HUB_HTTPS_PORT', 'HUB_METRICS_PORT', 'HUB_VPN_PORT'].map((variable) => ['FAIL', variable]),
    )
  })

  it('blames an address that is not the machine’s on the variable that has it, and no port that is off', async () => {
    const host = '192.0.2.55'
    expect(await find('ports', { host })).toMatchObject([{ remedy: expect.stringContaining('HUB_HOST to an address') }])
    expect(await find('ports', { metrics: { ...config.metrics, host, port: 18_599 } })).toMatchObject([
      { remedy: expect.stringContaining('HUB_METRICS_HOST to an address') },
    ])
  })

  it('names a database that does not answer or is damaged, and the remedy', async () => {
    const damaged = join(dir, 'damaged.sqlite')
    mkdirSync(dir, { recursive: true })
    writeFileSync(damaged, 'no database'.repeat(1_000))
    const databaseUrl = engine === 'postgres' ? 'postgres://hub@127.0.0.1:1/hub' : `sqlite:${damaged}`
    expect(await find('database', { databaseUrl })).toEqual([
      {
        check: 'database',
        state: 'FAIL',
        text: expect.any(String),
        remedy: expect.stringContaining('hub restore FILE'),
      },
    ])
  })

  it.runIf(engine === 'postgres')(
    'says that PostgreSQL does not answer, and does not report the ports of a running hub',
    async () => {
      const postgres = await startPostgres()
      const own = { ...config, databaseUrl: postgres.url('postgres') }
      const hub = await createHub({ config: own, log: pino({ level: 'silent' }) })
      try {
        const { port } = await hub.start()
        await postgres.pause()
        const found = await examine({ ...own, port, vpn: { ...config.vpn, port: hub.vpn.port } })
        const wrong = found.filter(({ state }) => state === 'FAIL')
        expect(wrong.map(({ check, text }) => [check, text.split(':')[0]])).toEqual([
          ['database', 'PostgreSQL does not answer'],
          ['database', 'the hub that runs says'],
        ])
        await postgres.resume()
      } finally {
        await hub.stop()
        await postgres.stop()
      }
    },
  )

  it('names unreadable certificates and their variables', async () => {
    const missing = join(dir, 'missing.pem')
    const [finding] = await find('certificates', { tlsFiles: { certFile: missing, keyFile: missing } })
    expect(finding).toMatchObject({ state: 'FAIL', remedy: expect.stringContaining('two variables') })
  })

  it('says why browsers refuse a certificate', async () => {
    const now = Date.now() + 5 * 86_400_000
    const own = await issueServerCertificate(await issueAuthority(now), ['hub.example.net'], now)
    const tlsFiles = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') }
    mkdirSync(dir, { recursive: true })
    writeFileSync(tlsFiles.certFile, own.certificate)
    writeFileSync(tlsFiles.keyFile, own.privateKey)
    expect(await find('certificates', { tlsFiles })).toContainEqual(
      expect.objectContaining({ state: 'FAIL', text: expect.stringContaining('is not valid before') }),
    )
  })

  it.each(['missing', 'empty', 'away'] as const)(
    'looks at everything else with a database that is %s',
    async (state) => {
      const path = join(dir, 'none.sqlite')
      mkdirSync(dir, { recursive: true })
      if (state === 'empty') writeFileSync(path, '')
      const missing = join(dir, 'missing')
      const found = await examine({
        ...config,
        databaseUrl: state === 'away' ? 'postgres://hub@127.0.0.1:1/hub' : `sqlite:${path}`,
        tlsFiles: { certFile: missing, keyFile: missing },
        vpn: { ...config.vpn, endpointHost: 'no.such.invalid' },
        backups: { dir: missing, times: { hours: 24 }, keep: 7 },
      })
      const wrong = found.filter((finding) => finding.state === 'FAIL').map(({ check }) => check)
      expect(wrong.filter((check) => check !== 'database')).toEqual(['VPN', 'certificates', 'backups'])
      expect(wrong.includes('database')).toBe(state === 'away')
      const own = { ...config, databaseUrl: `sqlite:${path}`, backups: { dir, times: { hours: 24 }, keep: 7 } }
      expect((await examine(own)).filter((finding) => finding.state === 'FAIL')).toEqual([])
    },
  )
})
