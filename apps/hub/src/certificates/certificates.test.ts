import { X509Certificate } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import type { Certificate } from '@hedgerow/contract'
import { pino } from 'pino'
import { HUB } from '../facts/facts.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../read-config.ts'
import { testEngines } from '#testing/databases.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { openCertificates, RENEWED_AHEAD_MS } from './certificates.ts'
import { readConfigured, refusalOf } from './configured.ts'
import { issueAuthority, issueServerCertificate } from './issue.ts'

const DAY_MS = 24 * 60 * 60 * 1_000

/** GET over TLS as clients do it: the certificate must be valid for `host` and issued by `ca`. */
function get(port: number, ca: string, host: string, path = '/livez') {
  return new Promise<{ status: number; body: string; certificate: PeerCertificate }>((resolve, reject) => {
    const servername = /^[\d.:]+$/.test(host) ? '' : host
    request({ host: '127.0.0.1', port, path, ca, servername, headers: { host: `${host}:${port}` }, agent: false })
      .on('response', (response) => {
        let body = ''
        const certificate = (response.socket as TLSSocket).getPeerCertificate()
        response.setEncoding('utf8').on('data', (text: string) => (body += text))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body, certificate }))
      })
      .on('error', reject)
      .end()
  })
}

describe.each(testEngines)('certificates on %s', (engine) => {
  let hub: TestHub
  let httpsPort: number
  const headersOf = async (role: 'user' | 'manager' | 'admin') => ({
    authorization: `Bearer ${await hub.signIn(role)}`,
  })
  const listed = async () =>
    (await hub.app.inject({ url: '/api/v1/hub/certificates', headers: await headersOf('user') })).json<Certificate[]>()
  const pemOf = async (id: string) => (await listed()).find((certificate) => certificate.id === id)!.pem
  const renew = async (id: string, role: 'user' | 'manager' | 'admin' = 'admin') =>
    hub.app.inject({
      method: 'POST',
      url: `/api/v1/hub/certificates/${id}/renew`,
      headers: await headersOf(role),
    })

  beforeAll(async () => {
    hub = await startTestHub(engine, {
      httpsPort: 0,
      publicUrl: 'https://hub.example.net',
      vpn: { backend: 'off', port: 0, endpointHost: '192.0.2.7', offload: true },
    })
    httpsPort = (await hub.start()).httpsPort!
  })
  afterAll(() => hub.stop())

  test.each(['localhost', '127.0.0.1', '::1', 'hub.example.net', '192.0.2.7'])(
    'a client that trusts the CA reaches the hub as %s',
    async (host) => {
      const { status, body } = await get(httpsPort, await pemOf('hub-ca'), host)
      expect([status, JSON.parse(body)]).toEqual([200, { status: 'ok' }])
    },
  )

  test('a client that does not trust the CA, or asks for another name, refuses it', async () => {
    const other = await issueAuthority(Date.now())
    await expect(get(httpsPort, other.certificate, 'localhost')).rejects.toThrow(/verify|issuer|signature/)
    await expect(get(httpsPort, await pemOf('hub-ca'), 'elsewhere.example.net')).rejects.toThrow(/altnames/)
  })

  test('lists the CA and the TLS certificate, and never a private key', async () => {
    const [ca, tls, ...more] = await listed()
    expect(more).toEqual([])
    expect(ca).toMatchObject({ id: 'hub-ca', type: 'CA', inUse: true, renewable: true, issuedBy: ca!.issuedTo })
    expect(tls).toMatchObject({ id: 'hub-tls', type: 'TLS', inUse: true, renewable: true, issuedBy: ca!.issuedTo })
    expect(tls!.issuedTo).toBe('hub.example.net')
    const validDays = (Date.parse(tls!.expiresAt) - Date.now()) / DAY_MS
    expect(validDays).toBeGreaterThan(390)
    expect(validDays).toBeLessThan(398)
    expect(JSON.stringify([ca, tls])).not.toContain('PRIVATE')
  })

  test('an admin renews the TLS certificate while HTTPS keeps serving, and the audit records it', async () => {
    const before = (await get(httpsPort, await pemOf('hub-ca'), 'localhost')).certificate.serialNumber
    expect((await renew('hub-tls')).statusCode).toBe(200)
    const after = (await get(httpsPort, await pemOf('hub-ca'), 'localhost')).certificate.serialNumber
    expect(after).not.toBe(before)
    const audit = await hub.db.selectFrom('audit').selectAll().where('action', '=', 'certificate.renew').execute()
    expect(audit).toMatchObject([{ target: 'hub-tls', actor: 'the-admin', result: 'ok' }])
  })

  test('a client that trusted the old CA still trusts the hub after the CA was renewed', async () => {
    const old = await pemOf('hub-ca')
    expect((await renew('hub-ca')).statusCode).toBe(200)
    expect(await pemOf('hub-ca')).not.toBe(old)
    expect((await get(httpsPort, old, 'localhost')).status).toBe(200)
    expect((await get(httpsPort, await pemOf('hub-ca'), 'localhost')).status).toBe(200)
  })

  test('only admins renew, and only renewable certificates', async () => {
    expect((await renew('hub-tls', 'manager')).json()).toMatchObject({ error: 'role_required' })
    expect((await renew('configured-tls')).json()).toMatchObject({ error: 'certificate_not_found' })
    expect((await renew('other')).json()).toMatchObject({ error: 'invalid_request' })
  })

  test('certificates that expire within 30 days are renewed automatically, others are not', async () => {
    const pem = await pemOf('hub-tls')
    const expiresAt = new X509Certificate(pem).validToDate.getTime()
    hub.clock.advance(expiresAt - RENEWED_AHEAD_MS - hub.clock.now() - DAY_MS)
    await hub.certificates.renewDue()
    expect(hub.certificates.list()[1]!.pem).toBe(pem)
    hub.clock.advance(2 * DAY_MS)
    await hub.certificates.renewDue()
    const renewed = hub.certificates.list()[1]!
    expect(renewed.pem).not.toBe(pem)
    expect(Date.parse(renewed.expiresAt)).toBeGreaterThan(expiresAt)
  })
})

test('a due renewal happens within a day, without a request', async () => {
  const hub = await startTestHub('sqlite')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { db, clock } = hub
  const config = readConfig({ HUB_DATA_DIR: tmpdir() })
  const certificates = await openCertificates({ db, config, clock: clock.now, log: pino({ level: 'silent' }) })
  const { pem, expiresAt } = certificates.list()[1]!
  clock.advance(Date.parse(expiresAt) - RENEWED_AHEAD_MS - clock.now() + 60_000)
  const renewed = new Promise<void>((resolve) => certificates.onChanged(resolve))
  vi.advanceTimersByTime(DAY_MS)
  await renewed
  expect(certificates.list()[1]!.pem).not.toBe(pem)
  await certificates.stop()
  await hub.stop()
})

afterEach(() => vi.useRealTimers())

describe("an operator's own certificate", () => {
  const dir = mkdtempSync(join(tmpdir(), 'hub-tls-'))
  const tlsFiles = { certFile: join(dir, 'tls.crt'), keyFile: join(dir, 'tls.key') }
  afterAll(() => rmSync(dir, { recursive: true }))

  async function writeOwn(name: string) {
    const authority = await issueAuthority(Date.now())
    const own = await issueServerCertificate(authority, [name], Date.now())
    writeFileSync(tlsFiles.certFile, own.certificate)
    writeFileSync(tlsFiles.keyFile, own.privateKey)
    return authority.certificate
  }

  test('is unused while HTTPS is off, and so are the hub’s own', async () => {
    await writeOwn('portal.example.net')
    for (const overrides of [{}, { tlsFiles }]) {
      const hub = await startTestHub('sqlite', { httpsPort: undefined, ...overrides })
      await hub.start()
      expect(hub.certificates.list().filter(({ inUse }) => inUse)).toEqual([])
      await hub.stop()
    }
  })

  test('is used, is listed, is not renewed, and is reloaded when its files change', async () => {
    const first = await writeOwn('portal.example.net')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const hub = await startTestHub('sqlite', { httpsPort: 0, tlsFiles })
    const { httpsPort } = await hub.start()
    expect((await get(httpsPort!, first, 'portal.example.net')).status).toBe(200)
    expect(hub.certificates.list()).toMatchObject([
      { id: 'hub-ca', inUse: false },
      { id: 'hub-tls', inUse: false },
      { id: 'configured-tls', inUse: true, renewable: false, issuedTo: 'portal.example.net' },
    ])
    await expect(hub.certificates.renew('configured-tls', { at: 0, actor: HUB })).rejects.toMatchObject({
      code: 'certificate_not_renewable',
    })

    writeFileSync(tlsFiles.certFile, 'half of a')
    vi.advanceTimersByTime(5_000)
    expect((await get(httpsPort!, first, 'portal.example.net')).status).toBe(200)

    const second = await writeOwn('portal.example.net')
    vi.advanceTimersByTime(5_000)
    expect((await get(httpsPort!, second, 'portal.example.net')).status).toBe(200)
    await hub.stop()
  })

  /** A certificate of a CA, an intermediate or a server, by openssl. */
  function made(name: string, options: string[], issuer?: string): string {
    const at = (file: string) => join(dir, file)
    const extensions = name === 'leaf' ? 'subjectAltName=DNS:portal.example.net' : 'basicConstraints=critical,CA:TRUE'
    const by = issuer ? ['-CA', at(`${issuer}.crt`), '-CAkey', at(`${issuer}.key`)] : []
    const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.crt`), '-subj', `/CN=${name}`, '-nodes']
    execFileSync('openssl', ['req', '-x509', ...options, ...files, '-addext', extensions, ...by], { stdio: 'pipe' })
    return readFileSync(at(`${name}.crt`), 'utf8')
  }
  const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']

  test.each([
    { of: 'ed25519', options: ['-newkey', 'ed25519'] },
    { of: 'the curve secp256k1', options: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'] },
    { of: 'the curve secp521r1', options: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp521r1'] },
    { of: 'RSA with 1024 bits', options: ['-newkey', 'rsa:1024'] },
  ])('with a key of $of, which browsers refuse, is refused at the start and at a reload', async ({ of, options }) => {
    const first = await writeOwn('portal.example.net')
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const hub = await startTestHub('sqlite', { httpsPort: 0, tlsFiles })
    const { httpsPort } = await hub.start()
    writeFileSync(tlsFiles.certFile, made('leaf', options))
    writeFileSync(tlsFiles.keyFile, readFileSync(join(dir, 'leaf.key')))
    vi.advanceTimersByTime(5_000)
    expect((await get(httpsPort!, first, 'portal.example.net')).status).toBe(200)
    await hub.stop()
    await expect(startTestHub('sqlite', { httpsPort: 0, tlsFiles })).rejects.toThrow(
      `HUB_TLS_KEY_FILE holds a key of ${of}, which browsers refuse`,
    )
  })

  const RSA = ['-newkey', 'rsa:2048']
  const issued = async (daysAhead: number) => {
    const authority = await issueAuthority(Date.now())
    const own = await issueServerCertificate(authority, ['portal.example.net'], Date.now() + daysAhead * DAY_MS)
    writeFileSync(join(dir, 'leaf.key'), own.privateKey)
    return own.certificate
  }
  const below = (options: string[], more: string[] = []) => {
    const between = made('between', options, (made('root', P256), 'root'))
    return made('leaf', [...P256, ...more], 'between') + between
  }
  test.each<[string, () => string | Promise<string>]>([
    ['the certificate expired on', () => issued(-500)],
    ['the certificate is not valid before', () => issued(5)],
    ['the certificate is not for servers', () => made('leaf', [...P256, '-addext', 'extendedKeyUsage=clientAuth'])],
    ['the certificate is signed with ecdsa-with-SHA1', () => made('leaf', [...P256, '-sha1'])],
    [
      'the certificate is signed with rsassaPss',
      () => made('leaf', [...RSA, '-sha1', '-sigopt', 'rsa_padding_mode:pss']),
    ],
    [
      'the certificate is signed with ED25519',
      () => {
        made('root', ['-newkey', 'ed25519'])
        return made('leaf', P256, 'root')
      },
    ],
    ['certificate 2 of the chain is signed with ecdsa-with-SHA1', () => below([...P256, '-sha1'])],
    [
      'certificate 2 of the chain has a key of the curve secp256k1',
      () => below(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1']),
    ],
    ['certificate 2 of the chain may not issue', () => below([...P256, '-addext', 'extendedKeyUsage=clientAuth'])],
    [
      'the certificate names no host',
      () => {
        const text = made('between', P256)
        writeFileSync(join(dir, 'leaf.key'), readFileSync(join(dir, 'between.key')))
        return text
      },
    ],
  ])('that browsers refuse replaces no good one, and is told at the start: %s', async (words, make) => {
    const hub = await startTestHub('sqlite')
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) })
    const config = { ...readConfig({ HUB_DATA_DIR: tmpdir() }), tlsFiles }
    const open = () => openCertificates({ db: hub.db, config, clock: hub.clock.now, log })
    await writeOwn('portal.example.net')
    const first = await open()
    const good = first.current()
    const bad = await make()
    lines.length = 0
    writeFileSync(tlsFiles.certFile, bad)
    writeFileSync(tlsFiles.keyFile, readFileSync(join(dir, 'leaf.key')))
    first.reloadFiles()
    expect(first.current()).toEqual(good)
    expect(lines.join()).toContain(`browsers refuse what HUB_TLS_CERT_FILE names: ${words}`)
    await first.stop()

    lines.length = 0
    const again = await open()
    expect(again.current().cert).toBe(bad)
    expect(lines.join()).toContain(words)
    // What is no better is replaced too.
    const next = await issued(-600)
    writeFileSync(tlsFiles.certFile, next)
    writeFileSync(tlsFiles.keyFile, readFileSync(join(dir, 'leaf.key')))
    again.reloadFiles()
    expect(again.current().cert).toBe(next)
    await again.stop()
    await hub.stop()
  })

  test.each<[string, () => string]>([
    ['RSA', () => made('leaf', RSA)],
    ['RSA-PSS with SHA-256', () => made('leaf', [...RSA, '-sha256', '-sigopt', 'rsa_padding_mode:pss'])],
    ['a CA on P-521', () => below(['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp521r1'])],
    ['a purpose of servers', () => below(P256, ['-addext', 'extendedKeyUsage=clientAuth,serverAuth'])],
    [
      'a root that signed itself with SHA-1',
      () => {
        const root = made('root', [...P256, '-sha1'])
        return made('leaf', P256, 'root') + root
      },
    ],
  ])('with %s is nothing that browsers refuse', (_, make) => {
    expect(refusalOf({ certificate: make(), privateKey: '' }, Date.now() + 60_000)).toBeUndefined()
  })

  test('with a chain: its order and its end are told', () => {
    const root = made('root', P256)
    const between = made('between', P256, 'root')
    const leaf = made('leaf', P256, 'between')
    writeFileSync(tlsFiles.keyFile, readFileSync(join(dir, 'leaf.key')))
    const read = (...chain: string[]) => {
      writeFileSync(tlsFiles.certFile, chain.join(''))
      return readConfigured(tlsFiles).doubt
    }
    expect(read(leaf, between, root)).toBeUndefined()
    expect(read(leaf, between)).toContain('add the certificate of “root”')
    expect(read(leaf)).toContain('add the certificate of “between”')
    expect(read(leaf, root)).toBe('certificate 2 in HUB_TLS_CERT_FILE did not issue certificate 1')
    expect(() => read(between, leaf)).toThrow(
      'HUB_TLS_CERT_FILE has the certificate of the key as number 2: put it first',
    )
    expect(() => read(root, between)).toThrow('HUB_TLS_KEY_FILE is not the key')
  })

  test.each([
    ['HUB_TLS_CERT_FILE', () => rm(tlsFiles.certFile)],
    ['HUB_TLS_CERT_FILE', () => writeFile(tlsFiles.certFile, 'no certificate')],
    ['HUB_TLS_KEY_FILE', () => writeFile(tlsFiles.keyFile, 'no key')],
    [
      'HUB_TLS_KEY_FILE',
      async () => {
        const { certificate } = await issueAuthority(Date.now())
        await writeFile(tlsFiles.certFile, certificate)
      },
    ],
  ])('that is unusable stops the start and names %s', async (variable, spoil) => {
    await writeOwn('portal.example.net')
    await spoil()
    await expect(startTestHub('sqlite', { httpsPort: 0, tlsFiles })).rejects.toThrow(new RegExp(`^${variable} `))
  })
})

test('a connection without TLS on the HTTPS port is closed, and the hub keeps running', async () => {
  const hub = await startTestHub('sqlite', { httpsPort: 0 })
  const { httpsPort } = await hub.start()
  await expect(fetch(`http://127.0.0.1:${httpsPort}/livez`)).rejects.toThrow('fetch failed')
  const ca = hub.certificates.list()[0]!.pem
  const status = await new Promise((resolve, reject) => {
    const socket = connect({ port: httpsPort, host: '127.0.0.1', servername: 'localhost', ca }, () => {
      socket.write('nonsense\r\n\r\n')
    })
    socket.setEncoding('utf8').once('data', resolve).once('error', reject)
  })
  expect(status).toMatch(/^HTTP\/1\.1 400 /)
  expect((await get(httpsPort!, ca, 'localhost')).status).toBe(200)
  await hub.stop()
})
