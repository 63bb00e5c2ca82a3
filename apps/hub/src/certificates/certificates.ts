/**
 * The hub's certificates: its own CA and the TLS certificate that this CA issued, both stored among the secrets of the
 * database, and the operator's own when HUB_TLS_CERT_FILE names one, which is then in use. Renews its own 30 days
 * before they expire and reloads changed files, without interrupting HTTPS. Called by its routes and the doctor.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { Certificate } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import { ConfigError, type Config } from '../config.ts'
import type { Db, Tables } from '../database/tables.ts'
import { afterCommit, inTransaction } from '../database/transaction.ts'
import { HUB, record, type Authorship } from '../facts/facts.ts'
import { createTasks } from '../kernel/tasks.ts'
import { HubError } from '../kernel/hub-error.ts'
import { readOrCreateSecret, replaceSecret } from '../database/secrets.ts'
import { readConfigured, refusalOf } from './configured.ts'
import { issueAuthority, issueServerCertificate, type KeyedCertificate } from './issue.ts'

export const RENEWED_AHEAD_MS = 30 * 24 * 60 * 60 * 1_000
/** Due renewals are checked often, because setting a clock right may make a certificate expired, or not valid yet. */
const DAY_MS = 86_400_000
const TOLD_AHEAD_MS = 14 * DAY_MS
/** By then the hub has started. */
const FIRST_TOLD_MS = 60_000
const CHECK_INTERVAL_MS = 60_000
const FILES_LOOKED_AT_INTERVAL_MS = 5_000

export type Certificates = {
  list(): Certificate[]
  /** Throws `certificate_not_found` or `certificate_not_renewable`. */
  renew(id: Certificate['id'], author: Authorship): Promise<Certificate>
  /** Renews the hub's own certificates that expire within 30 days. */
  renewDue(): Promise<void>
  /** Reloads the operator's files when they changed; unusable files leave the old ones in use. */
  reloadFiles(): void
  /** The certificate and key that HTTPS uses: PEM. */
  current(): { cert: string; key: string }
  /** `listener` is called on every change of `current` or `list`. */
  onChanged(listener: () => void): void
  stop(): Promise<void>
}

export type CertificateOptions = {
  db: Kysely<Tables>
  config: Pick<Config, 'tlsFiles' | 'httpsPort' | 'publicUrl' | 'vpn' | 'gatewayUi'>
  clock: () => number
  log: Logger
}

/** Makes missing certificates. Throws a `ConfigError` when the operator's files cannot be used. */
export async function openCertificates(options: CertificateOptions): Promise<Certificates> {
  const { db, config, clock, log } = options
  const names = namesOf(config)
  const listeners = new Set<() => void>()
  const { tlsFiles } = config
  let configured = tlsFiles && readConfigured(tlsFiles)
  reportDoubt()
  let rejected: string | undefined
  let authority = decode(
    await readOrCreateSecret(db, 'certificate-authority', async () => JSON.stringify(await issueAuthority(clock()))),
  )
  let issued = decode(
    await readOrCreateSecret(db, 'tls-certificate', async () =>
      JSON.stringify(await issueServerCertificate(authority, names, clock())),
    ),
  )

  /** Browsers often find a missing certificate by themselves; phones, gateways and programs do not. */
  function reportDoubt(): void {
    const reason = configured && refusalOf(configured, clock())
    if (reason) log.warn({ reason }, 'browsers refuse the TLS certificate')
    if (configured?.doubt) log.warn({ reason: configured.doubt }, 'some clients may refuse the TLS certificate')
  }

  const changed = () => listeners.forEach((listener) => listener())

  async function store(
    id: 'hub-ca' | 'hub-tls',
    next: { authority?: KeyedCertificate; issued: KeyedCertificate },
    author: Authorship,
  ) {
    await inTransaction(db, async (transaction) => {
      // Before the fact's followers: they read the new certificate.
      afterCommit(transaction, () => {
        authority = next.authority ?? authority
        issued = next.issued
        changed()
      })
      if (next.authority) await replaceSecret(transaction, 'certificate-authority', JSON.stringify(next.authority))
      await replaceSecret(transaction, 'tls-certificate', JSON.stringify(next.issued))
      await record(transaction, { kind: 'certificate.renewed', ...author, target: id, data: { id } })
    })
  }

  async function renewAuthority(author: Authorship): Promise<void> {
    const next = await issueAuthority(clock(), authority)
    await store('hub-ca', { authority: next, issued: await issueServerCertificate(next, names, clock()) }, author)
  }

  async function renewIssued(author: Authorship): Promise<void> {
    await store('hub-tls', { issued: await issueServerCertificate(authority, names, clock()) }, author)
  }

  async function renewDue(): Promise<void> {
    if (isDue(authority, clock())) await renewAuthority({ at: clock(), actor: HUB })
    else if (isDue(issued, clock()) || !covers(issued, names)) await renewIssued({ at: clock(), actor: HUB })
    else return
    log.info('the TLS certificate was renewed')
  }

  /** Only the operator renews their own: people are told every day. */
  async function reportExpiring(): Promise<void> {
    const used = configured && describe('configured-tls', configured, true)
    if (!used || Date.parse(used.expiresAt) - clock() > TOLD_AHEAD_MS) return
    const { id, name, expiresAt } = used
    await record(db, {
      kind: 'certificate.expiring',
      at: clock(),
      actor: HUB,
      target: id,
      data: { id, name, expiresAt },
    })
  }

  function reloadFiles(): void {
    if (!tlsFiles) return
    try {
      const read = readConfigured(tlsFiles)
      if (read.certificate === configured?.certificate && read.privateKey === configured.privateKey) {
        rejected = undefined
        return
      }
      const refused = refusalOf(read, clock())
      if (refused && configured && !refusalOf(configured, clock()))
        throw new ConfigError([`browsers refuse what HUB_TLS_CERT_FILE names: ${refused}`])
      rejected = undefined
      configured = read
    } catch (error) {
      // The two files change one after the other, so a mismatch may last a moment; each error is logged once.
      const { message } = error as Error
      if (message !== rejected) log.warn({ reason: message }, 'the TLS files are unusable: the old ones stay in use')
      rejected = message
      return
    }
    log.info('reloaded the TLS files')
    reportDoubt()
    changed()
    const about = { at: clock(), actor: HUB, target: 'configured-tls' }
    record(db, { ...about, kind: 'certificate.replaced', data: { id: 'configured-tls' } }).catch((error: unknown) =>
      log.warn({ err: error }, 'could not record the new TLS files'),
    )
  }

  await renewDue()
  const tasks = createTasks({
    log,
    name: 'certificates',
    on: 'one hub',
    failure: 'could not renew the TLS certificate',
  })
  const files = createTasks({ log, name: 'tls-files', on: 'each hub', failure: 'could not reload the TLS files' })
  tasks.every(CHECK_INTERVAL_MS, renewDue)
  if (tlsFiles) {
    files.every(FILES_LOOKED_AT_INTERVAL_MS, reloadFiles)
    tasks.soon(FIRST_TOLD_MS, reportExpiring)
    tasks.every(DAY_MS, reportExpiring)
  }

  const isServed = config.httpsPort !== undefined
  const list = () => describeAll({ authority, issued, configured }, isServed)

  return {
    list,
    async renew(id, author) {
      if (!list().some((certificate) => certificate.id === id)) throw new HubError('certificate_not_found')
      if (id === 'configured-tls') throw new HubError('certificate_not_renewable')
      await (id === 'hub-ca' ? renewAuthority(author) : renewIssued(author))
      return list().find((certificate) => certificate.id === id)!
    },
    renewDue,
    reloadFiles,
    current() {
      const { certificate, privateKey } = configured ?? issued
      return { cert: certificate, key: privateKey }
    },
    onChanged: (listener) => void listeners.add(listener),
    stop: () => Promise.all([tasks.stop(), files.stop()]).then(() => {}),
  }
}

/** Why browsers refuse the operator's own chain, and why other clients may, though the hub serves it. */
export function doubtsOfFiles({ tlsFiles }: Pick<Config, 'tlsFiles'>): { refused?: string; doubt?: string } {
  if (!tlsFiles) return {}
  const configured = readConfigured(tlsFiles)
  const refused = refusalOf(configured, Date.now())
  return { ...(refused && { refused }), ...(configured.doubt && { doubt: configured.doubt }) }
}

export const CERTIFICATE_NAMES = {
  'hub-ca': 'Hub CA',
  'hub-tls': 'Hub TLS certificate',
  'configured-tls': 'Configured TLS certificate',
} as const satisfies Record<Certificate['id'], string>

/**
 * The certificates of a hub that may not be running; before its first start, and without a database, it has none of its
 * own. Throws like `openCertificates`.
 */
export async function certificatesIn(
  db: Db | undefined,
  { tlsFiles, httpsPort }: Pick<Config, 'tlsFiles' | 'httpsPort'>,
): Promise<Certificate[]> {
  const rows = await db
    ?.selectFrom('secrets')
    .selectAll()
    .where('name', 'in', ['certificate-authority', 'tls-certificate'])
    .execute()
  const stored = new Map((rows ?? []).map(({ name, value }) => [name, decode(value)]))
  return describeAll(
    {
      authority: stored.get('certificate-authority'),
      issued: stored.get('tls-certificate'),
      configured: tlsFiles && readConfigured(tlsFiles),
    },
    httpsPort !== undefined,
  )
}

/** `isServed`: HTTPS is on. */
function describeAll(
  certificates: Record<'authority' | 'issued' | 'configured', KeyedCertificate | undefined>,
  isServed: boolean,
): Certificate[] {
  const { authority, issued, configured } = certificates
  const ownIsServed = isServed && configured === undefined
  return [
    authority && describe('hub-ca', authority, ownIsServed),
    issued && describe('hub-tls', issued, ownIsServed),
    configured && describe('configured-tls', configured, isServed),
  ].filter((certificate) => certificate !== undefined)
}

/** The names and addresses of this hub, the most public name first. */
function namesOf({ publicUrl, vpn, gatewayUi }: CertificateOptions['config']): string[] {
  const { origin } = gatewayUi
  const gateways = origin?.startsWith('https:')
    ? new URL(origin.replace('{id}', 'id')).hostname.replace(/^[^.]+/, '*')
    : ''
  const names = [
    publicUrl === undefined ? '' : new URL(publicUrl).hostname.replaceAll(/[[\]]/g, ''),
    vpn.endpointHost ?? '',
    hostname().toLowerCase(),
    'localhost',
    '127.0.0.1',
    '::1',
    gateways,
  ]
  return [...new Set(names)].filter((name) => isIP(name) !== 0 || /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(name))
}

function isDue({ certificate }: KeyedCertificate, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificate)
  return validToDate.getTime() - now < RENEWED_AHEAD_MS || validFromDate.getTime() > now
}

function covers({ certificate }: KeyedCertificate, names: readonly string[]): boolean {
  const parsed = new X509Certificate(certificate)
  const listed = new Set((parsed.subjectAltName ?? '').split(', '))
  return names.every((name) => (isIP(name) === 0 ? listed.has(`DNS:${name}`) : parsed.checkIP(name) !== undefined))
}

function decode(text: string): KeyedCertificate {
  return JSON.parse(text) as KeyedCertificate
}

function describe(id: Certificate['id'], { certificate: pem }: KeyedCertificate, inUse: boolean): Certificate {
  const certificate = new X509Certificate(pem)
  return {
    id,
    name: CERTIFICATE_NAMES[id],
    type: certificate.ca ? 'CA' : 'TLS',
    issuedTo: nameIn(certificate.subject),
    issuedBy: nameIn(certificate.issuer),
    issuedAt: certificate.validFromDate.toISOString(),
    expiresAt: certificate.validToDate.toISOString(),
    fingerprint: certificate.fingerprint256,
    inUse,
    renewable: id !== 'configured-tls',
    pem: certificate.toString(),
  }
}

/** The common name, or the whole distinguished name where there is none. */
function nameIn(distinguishedName: string): string {
  return /^CN=(.+)$/m.exec(distinguishedName)?.[1] ?? distinguishedName.replaceAll('\n', ', ')
}
