import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freeTcpPort } from '../../../../test/harness/free-ports.ts'
import { issueAuthority, issueServerCertificate } from '../certificates/issue.ts'
import { readConfig } from '../read-config.ts'
import { explainStartupError } from '../startup-errors.ts'
import { checkDatabase, openDatabase } from './database.ts'
import { hasPostgres } from '#testing/databases.ts'
import { runStatement, postgresOwner, startPostgres } from '#testing/postgres.ts'

/** Servers of their own, because a socket has no TLS. */
describe.skipIf(!hasPostgres)('PostgreSQL over TCP', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  let other: Awaited<ReturnType<typeof startPostgres>>
  let port = 0
  let otherPort = 0
  let deadPort = 0
  const home = mkdtempSync(join(tmpdir(), 'hub-tls-'))
  const rootCert = join(home, 'ca.pem')
  const foreignCert = join(home, 'foreign.pem')

  beforeAll(async () => {
    ;[port, otherPort, deadPort] = [await freeTcpPort(), await freeTcpPort(), await freeTcpPort()]
    ;[server, other] = await Promise.all([startPostgres({ port }), startPostgres({ port: otherPort })])
    const now = Date.now()
    const authority = await issueAuthority(now)
    const { certificate, privateKey } = await issueServerCertificate(authority, ['localhost'], now)
    writeFileSync(rootCert, authority.certificate)
    writeFileSync(foreignCert, (await issueAuthority(now)).certificate)
    for (const [name, text] of Object.entries({ 'server.crt': certificate, 'server.key': privateKey })) {
      const file = join(server.folder, 'data', name)
      writeFileSync(file, text, { mode: 0o600 })
      if (postgresOwner.uid) chownSync(file, postgresOwner.uid, postgresOwner.gid)
    }
    await set('ssl = on')
  })
  afterAll(async () => {
    await Promise.all([server.stop(), other.stop()])
    rmSync(home, { recursive: true })
  })

  /** Changes the server's settings for all connections that come later. */
  async function set(...settings: string[]): Promise<void> {
    for (const setting of settings) await runStatement(server.url('postgres'), `alter system set ${setting}`)
    await server.restart()
  }

  async function admit(...lines: string[]): Promise<void> {
    const rules = ['local all all trust', ...lines.map((line) => `${line} all all all trust`)]
    writeFileSync(join(server.folder, 'data', 'pg_hba.conf'), `${rules.join('\n')}\n`)
    await server.restart()
  }

  const address = (parameters = '', host = 'localhost') => `postgres://hub@${host}:${port}/postgres?${parameters}`

  /** Whether the connection is encrypted, or why there is none, as the hub says it. */
  async function connected(url: string): Promise<boolean | string | undefined> {
    try {
      const { db, close } = await openDatabase({ url })
      const { rows } = await sql<{ ssl: boolean }>`
        select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(db)
      await close()
      return rows[0]!.ssl
    } catch (error) {
      return explainStartupError(error, readConfig({ HUB_DATABASE_URL: url }))
    }
  }

  test('sslmode is what libpq means by it, and a certificate that is not trusted is told in words', async () => {
    expect(await connected(address())).toBe(true)
    expect(await connected(address('sslmode=disable'))).toBe(false)
    expect(await connected(address('sslmode=allow'))).toBe(false)
    expect(await connected(address('sslmode=prefer'))).toBe(true)
    expect(await connected(address('sslmode=require'))).toBe(true)
    expect(await connected(address(`sslmode=require&sslrootcert=${rootCert}`))).toBe(true)
    expect(await connected(address(`sslmode=verify-ca&sslrootcert=${rootCert}`, '127.0.0.1'))).toBe(true)
    expect(await connected(address(`sslmode=verify-full&sslrootcert=${rootCert}`))).toBe(true)

    const distrusted =
      /^The database cannot be used \(HUB_DATABASE_URL\): localhost:\d+: nobody vouches .* sslrootcert$/
    expect(await connected(address(`sslmode=require&sslrootcert=${foreignCert}`))).toMatch(distrusted)
    expect(await connected(address('sslmode=verify-full'))).toMatch(distrusted)
    expect(await connected(address(`sslmode=verify-full&sslrootcert=${rootCert}`, '127.0.0.1'))).toMatch(
      /127\.0\.0\.1:\d+: its certificate is for another name\..*verify-ca/,
    )
    expect(await connected(address(`sslmode=require&sslrootcert=${home}/none.pem`))).toMatch(
      /^HUB_DATABASE_URL names a file as sslrootcert that cannot be read: .*none\.pem \(ENOENT\)$/,
    )
    for (const [name, text] of Object.entries({ 'empty.pem': '', 'key.pem': '-----BEGIN CERTIFICATE-----\nno' })) {
      writeFileSync(join(home, name), text)
      expect(await connected(address(`sslmode=require&sslrootcert=${join(home, name)}`))).toBe(
        `HUB_DATABASE_URL names a file as sslrootcert that holds no certificate in PEM form: ${join(home, name)}`,
      )
    }
  })

  test('the root certificate of the person who starts the hub counts, as with libpq', async () => {
    vi.stubEnv('HOME', home)
    onTestFinished(() => void vi.unstubAllEnvs())
    mkdirSync(join(home, '.postgresql'))
    writeFileSync(join(home, '.postgresql', 'root.crt'), (await issueAuthority(Date.now())).certificate)
    expect(await connected(address('sslmode=require'))).toMatch(/nobody vouches/)
    rmSync(join(home, '.postgresql'), { recursive: true })
    expect(await connected(address('sslmode=require'))).toBe(true)
  })

  test('a server that wants TLS, or wants none, gets it where the mode leaves the choice', async () => {
    onTestFinished(() => admit('host'))
    await admit('hostssl')
    expect(await connected(address('sslmode=allow'))).toBe(true)
    expect(await connected(address('sslmode=disable'))).toMatch(/no pg_hba.conf entry .* no encryption/)
    await admit('hostnossl')
    expect(await connected(address('sslmode=prefer'))).toBe(false)
    expect(await connected(address('sslmode=require'))).toMatch(/no pg_hba.conf entry .* SSL encryption/)
  })

  test('without TLS on the server, prefer does without and require refuses', async () => {
    onTestFinished(() => set('ssl = on'))
    await set('ssl = off')
    expect(await connected(address())).toBe(false)
    expect(await connected(address('sslmode=require'))).toMatch(/it offers no TLS/)
  })

  test('of several hosts the hub takes the first that answers and can be written on, also later', async () => {
    const both = `localhost:${deadPort},localhost:${port},localhost:${otherPort}`
    const url = `postgres://hub@${both}/postgres?target_session_attrs=read-write`
    const { db, close } = await openDatabase({ url })
    const portOf = async () => {
      const { rows } = await sql<{ port: string }>`select current_setting('port') as port`.execute(db)
      return Number(rows[0]!.port)
    }
    expect(await portOf()).toBe(port)
    // The first becomes a server on which nothing can be written.
    await set('default_transaction_read_only = on')
    onTestFinished(() =>
      runStatement(
        `${server.url('postgres')}&options=-c%20default_transaction_read_only%3Doff`,
        'alter system reset all',
      ).then(() => set('ssl = on')),
    )
    expect(await portOf()).toBe(otherPort)
    await other.pause()
    await expect(checkDatabase(db)).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { message: expect.stringMatching(/ECONNREFUSED.*: it takes no changes/) as string },
    })
    await other.resume()
    await checkDatabase(db)
    await close()
  })

  test('a host that does not answer is named, with what it said', async () => {
    const url = `postgres://hub@localhost:${deadPort}/postgres`
    expect(await connected(url)).toMatch(
      /^The database cannot be used \(HUB_DATABASE_URL\): localhost:\d+: .*ECONNREFUSED/,
    )
    expect(await connected(`postgres://hub@/postgres?host=${home}`)).toMatch(/hub-tls-.*ENOENT/)
    expect(await connected('postgres://hub@no-such-host.invalid/postgres')).toMatch(
      /no-such-host\.invalid:5432: .*(ENOTFOUND|EAI_AGAIN)/,
    )
  })
})
