/**
 * Examines a hub from outside, running or not: database, disk, clock, ports, VPN, certificates, backups and
 * channels. Changes
 * nothing.
 */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { access, constants, statfs } from 'node:fs/promises'
import { createServer, isIP } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorBody, type ErrorBody } from '@hedgerow/contract'
import { generateKeyPair, openOnBothFamilies } from '@hedgerow/wireguard/node'
import { sql, type Kysely } from 'kysely'
import { certificatesIn, doubtsOfFiles, RENEWED_AHEAD_MS } from '../certificates/certificates.ts'
import { ConfigError, type Config } from '../config.ts'
import { encodingOf, MAKE_UTF8, openDatabase, UTF8 } from '../database/database.ts'
import { engineOf } from '../database/engine.ts'
import { freePages } from '../database/free-pages.ts'
import { DatabaseInUse, lockDatabase } from '../database/lock.ts'
import { EmptyDatabaseError } from '../database/migrations.ts'
import type { Tables } from '../database/tables.ts'
import { callOut } from '../http/outgoing-call.ts'
import { readSettings } from '../settings/settings.ts'
import { examineBackups } from './examine-backups.ts'
import { examineChannels } from './examine-channels.ts'
import { examineClock } from './examine-clock.ts'
import type { Finding } from './finding.ts'

const SPACE_NEEDED_BYTES = 200 * 1024 ** 2
const SPACE_WANTED_BYTES = 2 * 1024 ** 3
const ANSWER_TIMEOUT_MS = 5_000
const ANSWER_LIMIT_BYTES = 65_536

export async function examine(config: Config): Promise<Finding[]> {
  const findings: Finding[] = []
  const { isRunning, refusal } = await lookForHub(config)
  const opened = refusal ?? (await openForLooking(config).catch((error: unknown) => error))
  if (opened === undefined || opened instanceof Error)
    findings.push(await examineDisk(config), unopenedDatabase(opened, config), ...(await examineSettings(config)))
  else {
    const { db, close } = opened as Awaited<ReturnType<typeof openDatabase>>
    try {
      findings.push(await examineDisk(config, db), await examineDatabase(db, config), await examineClock(db, config))
      findings.push(...(await examineSettings(config, db)), await examineChannels(db, config))
    } finally {
      await close()
    }
  }
  return [...findings, ...(isRunning ? [await examineRunningHub(config)] : await examinePorts(config))]
}

/** What a start refuses or a person regrets later, with or without tables to read. */
async function examineSettings(config: Config, db?: Kysely<Tables>): Promise<Finding[]> {
  return [await examineVpn(config, db), ...(await examineCertificates(config, db)), await examineBackups(config, db)]
}

/** Undefined when there is no database yet. */
async function openForLooking({ databaseUrl: url }: Config) {
  if (engineOf(url) === 'sqlite' && !existsSync(url.slice('sqlite:'.length))) return undefined
  return openDatabase({ url, mayMigrate: false })
}

/**
 * Decides by the lock on the hub's database or, when that fails, by an answer on its port. `refusal` is why no hub can
 * use this database.
 */
async function lookForHub(config: Config): Promise<{ isRunning: boolean; refusal?: ConfigError }> {
  const { databaseUrl: url } = config
  if (engineOf(url) === 'sqlite' && !existsSync(`${url.slice('sqlite:'.length)}.lock`)) return { isRunning: false }
  try {
    await (await lockDatabase(url, { patienceMs: 0 })).release()
    return { isRunning: false }
  } catch (error) {
    if (error instanceof DatabaseInUse) return { isRunning: true }
    const { isReady, problem } = await probeHub(config)
    return { isRunning: isReady || problem !== undefined, ...(error instanceof ConfigError && { refusal: error }) }
  }
}

function unopenedDatabase(error: Error | undefined, { databaseUrl }: Config): Finding {
  if (!error) return { check: 'database', state: 'ok', text: 'there is none yet: the first start makes it' }
  if (error instanceof EmptyDatabaseError)
    return { check: 'database', state: 'ok', text: 'it is empty: the first start makes its tables' }
  const { cause, message } = error
  const why = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message
  const isAway = engineOf(databaseUrl) === 'postgres' && cause !== undefined
  return {
    check: 'database',
    state: 'FAIL',
    text: isAway ? `PostgreSQL does not answer: ${why}` : why,
    remedy: isAway
      ? 'Start PostgreSQL or check HUB_DATABASE_URL; a hub that runs goes on by itself. If it is lost: hub restore ' +
        'FILE.'
      : 'Check HUB_DATABASE_URL, HUB_DATA_DIR and who may read them, or restore a backup: hub restore FILE.',
  }
}

async function examineDatabase(db: Kysely<Tables>, { databaseUrl }: Config): Promise<Finding> {
  if (engineOf(databaseUrl) === 'postgres') {
    const encoding = await encodingOf(db)
    return encoding === UTF8
      ? { check: 'database', state: 'ok', text: 'PostgreSQL answers' }
      : { check: 'database', state: 'FAIL', text: `its encoding is ${encoding}, not ${UTF8}`, remedy: MAKE_UTF8 }
  }
  const path = databaseUrl.slice('sqlite:'.length)
  const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db)
  const [finding] = rows
  if (finding?.quick_check !== 'ok')
    return {
      check: 'database',
      state: 'FAIL',
      text: `${path} is damaged: ${finding?.quick_check}`,
      remedy: 'Stop the hub and restore a backup: hub restore FILE.',
    }
  if (statSync(path).mode & 0o077)
    return {
      check: 'database',
      state: 'warn',
      text: `others on this machine may read ${path}, which holds the hub's keys`,
      remedy: `chmod 600 ${path}`,
    }
  return { check: 'database', state: 'ok', text: `${path} is sound` }
}

/** Free pages of a SQLite file count: new rows are stored there. */
async function examineDisk({ dataDir, databaseUrl }: Config, db?: Kysely<Tables>): Promise<Finding> {
  let folder = dataDir
  while (!existsSync(folder)) folder = dirname(folder)
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    const text = `${folder} takes no files: ${(error as NodeJS.ErrnoException).code}`
    return { check: 'disk', state: 'FAIL', text, remedy: 'Let this user write there, and the disk be writable.' }
  }
  const { bavail, bsize } = await statfs(folder)
  const pages = db && engineOf(databaseUrl) === 'sqlite' ? (await freePages(db)).bytes : 0
  const free = bavail * bsize + pages
  const text =
    `${gibibytes(free)} free in ` +
    `${folder}${pages > SPACE_NEEDED_BYTES ? `, ${gibibytes(pages)} of it in the database` : ''}`
  const remedy = 'Make room, or move the data with HUB_DATA_DIR. Settings hold how long logs are kept.'
  if (free < SPACE_NEEDED_BYTES) return { check: 'disk', state: 'FAIL', text, remedy }
  return free < SPACE_WANTED_BYTES
    ? { check: 'disk', state: 'warn', text, remedy }
    : { check: 'disk', state: 'ok', text }
}

const gibibytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`

async function examineVpn({ vpn }: Config, db?: Kysely<Tables>): Promise<Finding> {
  if (vpn.backend === 'off')
    return {
      check: 'VPN',
      state: 'warn',
      text: 'switched off by HUB_VPN_BACKEND',
      remedy: 'Gateways need it. Unset HUB_VPN_BACKEND unless this hub needs no gateways.',
    }
  if (db && !(await readSettings(db)).enableVpn)
    return { check: 'VPN', state: 'warn', text: 'switched off in the settings', remedy: 'Switch it on under Settings.' }
  const { endpointHost } = vpn
  if (endpointHost !== undefined && isIP(endpointHost) === 0) {
    const late = sleep(ANSWER_TIMEOUT_MS, undefined, { ref: false })
    const found = await Promise.race([lookup(endpointHost).catch(() => undefined), late])
    if (!found)
      return {
        check: 'VPN',
        state: 'FAIL',
        text: `DNS has no address for HUB_VPN_ENDPOINT_HOST ${endpointHost}`,
        remedy:
          'Gateways send their packets there. Correct it, or unset it: then they use the name they found the hub by.',
      }
  }
  return {
    check: 'VPN',
    state: 'ok',
    text: `gateways send to UDP ${vpn.port} of ${endpointHost ?? 'the host that they reached the hub by'}`,
  }
}

async function examineCertificates(config: Config, db?: Kysely<Tables>): Promise<Finding[]> {
  try {
    const found = await certificatesIn(db, config)
    const { refused, doubt } = doubtsOfFiles(config)
    const chain: Finding[] = doubt
      ? [
          {
            check: 'certificates',
            state: 'warn',
            text: doubt,
            remedy: 'Put the whole chain into the file, the hub’s own certificate first.',
          },
        ]
      : []
    if (refused)
      chain.push({
        check: 'certificates',
        state: 'FAIL',
        text: `browsers refuse the TLS certificate: ${refused}`,
        remedy: 'Get another where it came from and replace the files that the two variables name.',
      })
    const dates = found.map(({ name, expiresAt, renewable }): Finding => {
      const leftMs = Date.parse(expiresAt) - Date.now()
      const text = `${name}: until ${expiresAt.slice(0, 10)}`
      const remedy = renewable
        ? 'The hub renews it by itself while it runs: start it, or renew it under Settings.'
        : 'Renew it where it came from and replace the files that HUB_TLS_CERT_FILE and HUB_TLS_KEY_FILE name.'
      if (leftMs < 0) return { check: 'certificates', state: 'FAIL', text: `${text}, expired`, remedy }
      return leftMs < RENEWED_AHEAD_MS
        ? { check: 'certificates', state: 'warn', text, remedy }
        : { check: 'certificates', state: 'ok', text }
    })
    return [...chain, ...dates]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const remedy = 'Correct the two variables or their files; the key must be that of the first certificate.'
    return [{ check: 'certificates', state: 'FAIL', text: error.message, remedy }]
  }
}

/** The answer on the hub's port; `problem` is the hub's reason for not being ready. */
async function probeHub({ host, port }: Config): Promise<{ isReady: boolean; problem?: ErrorBody | undefined }> {
  const address = host === undefined || host === '::' || host === '0.0.0.0' ? '127.0.0.1' : host
  const url = `http://${isIP(address) === 6 ? `[${address}]` : address}:${port}/readyz`
  const answer = await callOut({
    url,
    method: 'GET',
    timeoutMs: ANSWER_TIMEOUT_MS,
    answerLimitBytes: ANSWER_LIMIT_BYTES,
  }).catch(() => undefined)
  if (answer?.status === 200) return { isReady: true }
  return { isReady: false, problem: errorBody.safeParse(parseJson(answer?.body)).data }
}

async function examineRunningHub(config: Config): Promise<Finding> {
  const { port } = config
  const { isReady, problem } = await probeHub(config)
  if (isReady) return { check: 'ports', state: 'ok', text: `the hub is running and answers on port ${port}` }
  if (problem)
    return {
      check: problem.error === 'vpn_unavailable' ? 'VPN' : 'database',
      state: 'FAIL',
      text: `the hub that runs says: ${problem.message}`,
      remedy:
        problem.error === 'vpn_unavailable'
          ? 'Stop what uses UDP HUB_VPN_PORT (ss -lun shows it), then switch the VPN off and on under Settings.'
          : 'Make room on the disk, let the hub write to it, or bring the database back; the hub goes on by itself.',
    }
  return {
    check: 'ports',
    state: 'FAIL',
    text: `a hub is running, but does not answer on port ${port}`,
    remedy: 'Check that these are its HUB_PORT and HUB_HOST, and read its log.',
  }
}

function parseJson(body: Buffer | undefined): unknown {
  try {
    return JSON.parse(body?.toString('utf8') ?? '')
  } catch {
    return undefined
  }
}

async function examinePorts(config: Config): Promise<Finding[]> {
  const { host } = config
  const wanted = [
    ['HUB_PORT', () => tryTcp(host, config.port), 'HUB_HOST'],
    ['HUB_HTTPS_PORT', () => tryTcp(host, config.httpsPort), 'HUB_HOST'],
    ['HUB_METRICS_PORT', () => tryTcp(config.metrics.host, config.metrics.port), 'HUB_METRICS_HOST'],
    ['HUB_VPN_PORT', () => tryUdp(config.vpn.backend === 'off' ? 0 : config.vpn.port), 'HUB_HOST'],
  ] as const
  const findings: Finding[] = []
  for (const [variable, attempt, hostVariable] of wanted) {
    const error = await attempt().catch((thrown: unknown) => thrown as NodeJS.ErrnoException & { port?: number })
    if (!error) continue
    findings.push({
      check: 'ports',
      state: 'FAIL',
      text: `${variable} ${error.port ?? ''} cannot be used (${error.code})`,
      remedy:
        error.code === 'EADDRINUSE'
          ? `Stop what uses it (ss -lptun shows it), or set ${variable} to another.`
          : `Set ${variable} to another, or ${hostVariable} to an address of this machine.`,
    })
  }
  if (findings.length > 0) return findings
  return [{ check: 'ports', state: 'ok', text: 'the hub is not running, and its ports are free' }]
}

/** Without a host on every address, of IPv6 only where the machine has it, as the hub listens. */
async function tryTcp(host: string | undefined, port: number | undefined): Promise<undefined> {
  if (port === undefined) return
  const server = createServer()
  server.listen({ host, port })
  await once(server, 'listening')
  server.close()
}

async function tryUdp(port: number): Promise<undefined> {
  const { privateKey } = generateKeyPair()
  const wireguard = await openOnBothFamilies({ privateKey, port, offload: false, onPacket: () => {} })
  await wireguard.close()
}
