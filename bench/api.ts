import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { reportDetections, sendHeartbeat } from '@hedgerow/contract'
import { IDENTITY_HEADER, NONCE_HEADER, requestBytes, SIGNATURE_HEADER, TIME_HEADER } from '@hedgerow/enrolment'
import { publicKeyOf } from '@hedgerow/wireguard/node'
import type { PrivateKey } from '@hedgerow/wireguard'
import { openDatabase } from '../apps/hub/src/database/database.ts'
import { startPostgres } from '../apps/hub/testing/postgres.ts'
import { joinTunnel, type TestPeer } from '../apps/hub/testing/peer.ts'
import { startChild } from '../test/harness/child-process.ts'
import { freeTcpPort, freeUdpPort } from '../test/harness/free-ports.ts'
import { HUB_COMMAND } from '../test/harness/hub.ts'
import { createFleet, heartbeatOf, type FleetGateway } from './fleet.ts'
import { report, reportGoals } from './report.ts'

/**
 * Requests a second and their durations, at fleets of several sizes with all their heartbeats running, on both
 * databases. The hub is a process of its own; this one plays its people and gateways. Reads come one after the other
 * over one connection, then from eight; heartbeats and batches of 500 detections through real tunnels, from eight
 * gateways. `--gateways 250,2500,10000 --databases sqlite,postgres --seconds 6`.
 */
export async function benchApi(args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: { gateways: text('250,2500,10000'), databases: text('sqlite,postgres'), seconds: text('6') },
  })
  const rows: Record<string, Record<string, number>> = {}
  for (const engine of values.databases.split(','))
    for (const count of values.gateways.split(',').map(Number))
      Object.assign(rows, await benchFleet(engine, count, Number(values.seconds) * 1_000))
  report('api', rows)
  // Of the largest fleet.
  const last = (engine: string, what: string) =>
    Object.entries(rows).findLast(([name]) => name.startsWith(engine) && name.endsWith(what))?.[1]
  const startMs = last('sqlite', 'process')?.['start ms']
  reportGoals('api', {
    'sqlite: detections a second': last('sqlite', 'a call')?.['rows/s'],
    'postgres: detections a second': last('postgres', 'a call')?.['rows/s'],
    'sqlite: start to listening, s': startMs === undefined ? undefined : startMs / 1_000,
  })
}

const PASSWORD = 'the password of the bench'
const HEARTBEAT_INTERVAL_MS = 30_000
const TUNNELS = 8
const DETECTIONS_AT_ONCE = 500

const READS = {
  'list, whole': '/api/v1/hub/gateways',
  'list, a page': '/api/v1/hub/gateways?limit=100',
  'list, a search': '/api/v1/hub/gateways?limit=100&q=field%2012',
  stats: '/api/v1/hub/stats',
  timeline: '/api/v1/hub/timeline',
  activity: '/api/v1/hub/activity/recent',
}

async function benchFleet(engine: string, count: number, durationMs: number) {
  const dataDir = mkdtempSync(join(tmpdir(), 'hedgerow-bench-'))
  const postgres = engine === 'postgres' ? await startPostgres({ isDurable: true }) : undefined
  const url = postgres ? postgres.url('postgres') : `sqlite:${join(dataDir, 'hub.sqlite')}`
  const fleet = await createFleet(url, count)
  const [port, vpnPort] = [await freeTcpPort(), await freeUdpPort()]
  const env = {
    // As under systemd: docs/operations/systemd.md.
    NODE_COMPILE_CACHE: join(dataDir, 'compile-cache'),
    HUB_HOST: '127.0.0.1',
    HUB_PORT: String(port),
    HUB_HTTPS_PORT: 'off',
    HUB_VPN_PORT: String(vpnPort),
    HUB_DATA_DIR: dataDir,
    HUB_DATABASE_URL: url,
    HUB_ADMIN_USERNAME: 'bench',
    HUB_ADMIN_PASSWORD: PASSWORD,
    HUB_TRUSTED_PROXIES: '127.0.0.1',
    HUB_LOG_LEVEL: 'warn',
  }
  // The very first start creates keys, certificates and the cache; only later starts count.
  await (await startServing(env)).hub.stop()
  const { hub, startMs } = await startServing(env)
  const tunnels: TestPeer[] = []
  const beating = new AbortController()
  try {
    const name = (what: string) => `${engine} ${count} ${what}`
    const rows: Record<string, Record<string, number>> = {}
    const resident = () => ({ 'resident MB': residentMegabytes(hub.pid) })
    const authorization = await signIn(port)
    const background = keepBeating(fleet, port, beating.signal)
    await sleep(2_000)
    const calmMegabytes = residentMegabytes(hub.pid)
    for (const [what, path] of Object.entries(READS)) {
      // Sent as browsers send it; the answers are not decompressed here, because that would take processor time from
      // the hub.
      const headers = { authorization, 'accept-encoding': 'br' }
      const read = (agent: Agent) => send({ agent, port, path, headers })
      rows[name(what)] = { ...(await measure(read, { connections: 1, durationMs })), ...resident() }
      rows[name(`${what}, 8 at once`)] = { ...(await measure(read, { connections: 8, durationMs })), ...resident() }
    }
    tunnels.push(...(await joinTunnels(fleet, url, vpnPort)))
    let sequence = 0
    const beat = (peer: TestPeer) => post(peer, sendHeartbeat.path, heartbeatOf(++sequence, Date.now()))
    rows[name('heartbeats')] = { ...(await measureTunnels(tunnels, beat, durationMs)), ...resident() }
    const detect = (peer: TestPeer) => post(peer, reportDetections.path, detectionsOf(++sequence))
    const detections = await measureTunnels(tunnels, detect, durationMs)
    rows[name('detections, 500 a call')] = { ...detections, 'rows/s': Math.round(detections['requests/s']! * 500) }
    beating.abort()
    const { refused, sent } = await background
    rows[name('process')] = {
      'start ms': Math.round(startMs),
      'resident MB, calm': calmMegabytes,
      'resident MB, after all this': residentMegabytes(hub.pid),
      'heartbeats sent': sent,
      'heartbeats refused': refused,
    }
    return rows
  } finally {
    beating.abort()
    await Promise.all(tunnels.map((tunnel) => tunnel.stop()))
    await hub.stop()
    await postgres?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function startServing(env: Record<string, string>) {
  const startedAtMs = performance.now()
  const hub = await startChild(process.execPath, HUB_COMMAND, { env })
  await hub.says(/^Hub: /m, 60_000)
  return { hub, startMs: performance.now() - startedAtMs }
}

/** Sends every gateway's heartbeat each 30 s, evenly spread, signed as a gateway without UDP signs them. */
async function keepBeating(fleet: FleetGateway[], port: number, signal: AbortSignal) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  let [sent, refused] = [0, 0]
  const startedAtMs = performance.now()
  const path = `/api${sendHeartbeat.path}`
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedAtMs) / HEARTBEAT_INTERVAL_MS) * fleet.length)
    for (; sent < due; sent++) {
      const gateway = fleet[sent % fleet.length]!
      const body = Buffer.from(JSON.stringify(heartbeatOf(sent, Date.now())))
      const time = String(Date.now())
      const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
      const headers = {
        'content-type': 'application/json',
        'x-forwarded-for': gateway.sourceIp,
        [IDENTITY_HEADER]: gateway.identity.publicKey,
        [TIME_HEADER]: time,
        [NONCE_HEADER]: nonce,
        [SIGNATURE_HEADER]: gateway.identity.sign(requestBytes({ method: 'POST', target: path, time, nonce, body })),
      }
      void send({ agent, port, path, headers, body }).catch(() => refused++)
    }
    await sleep(20)
  }
  agent.destroy()
  return { sent, refused }
}

type Sent = { agent: Agent; port: number; path: string; headers: Record<string, string>; body?: Buffer }

/** Rejects for every answer except 2xx. */
function send({ agent, port, path, headers, body }: Sent): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ agent, port, host: '127.0.0.1', path, headers, method: body ? 'POST' : 'GET' })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      response.resume()
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`${path} answered ${response.statusCode}`))
      })
    })
    outgoing.end(body)
  })
}

async function signIn(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password: PASSWORD }),
  })
  const { accessToken } = (await response.json()) as { accessToken: string }
  return `Bearer ${accessToken}`
}

async function measure(
  exchange: (agent: Agent) => Promise<void>,
  { connections, durationMs }: { connections: number; durationMs: number },
) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  await exchange(agent)
  const measured = await loop(
    Array.from({ length: connections }, () => () => exchange(agent)),
    durationMs,
  )
  agent.destroy()
  return measured
}

async function measureTunnels(tunnels: TestPeer[], exchange: (peer: TestPeer) => Promise<void>, durationMs: number) {
  return loop(
    tunnels.map((tunnel) => () => exchange(tunnel)),
    durationMs,
  )
}

/** Each caller calls again as soon as it has its answer. */
async function loop(askers: (() => Promise<void>)[], durationMs: number): Promise<Record<string, number>> {
  const tookMs: number[] = []
  const startedAtMs = performance.now()
  const endsAtMs = startedAtMs + durationMs
  await Promise.all(
    askers.map(async (exchange) => {
      while (performance.now() < endsAtMs) {
        const sentAtMs = performance.now()
        await exchange()
        tookMs.push(performance.now() - sentAtMs)
      }
    }),
  )
  const sorted = tookMs.toSorted((a, b) => a - b)
  const rank = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]! * 10) / 10
  const seconds = (performance.now() - startedAtMs) / 1_000
  return { 'requests/s': Math.round(tookMs.length / seconds), 'p50 ms': rank(0.5), 'p99 ms': rank(0.99) }
}

async function joinTunnels(fleet: FleetGateway[], url: string, hubPort: number): Promise<TestPeer[]> {
  const { db, close } = await openDatabase({ url, mayMigrate: false })
  const secret = db.selectFrom('secrets').select('value').where('name', '=', 'wireguard-private-key')
  const { value } = await secret.executeTakeFirstOrThrow()
  await close()
  const hubPublicKey = publicKeyOf(value as PrivateKey)
  return Promise.all(
    fleet
      .slice(0, TUNNELS)
      .map(({ tunnel }) =>
        joinTunnel({ ...tunnel, assignedIp: tunnel.address, hubVpnIp: '10.100.0.1', hubPublicKey, hubPort }),
      ),
  )
}

async function post(peer: TestPeer, path: string, body: unknown): Promise<void> {
  const { status } = await peer.post(`/api${path}`, body)
  if (status !== 200) throw new Error(`${path} answered ${status}`)
}

function detectionsOf(batch: number) {
  const startedAt = new Date().toISOString()
  return {
    detections: Array.from({ length: DETECTIONS_AT_ONCE }, (_, index) => ({
      id: `${batch}-${index}`,
      camera: 'orchard',
      label: index % 10 === 0 ? 'person' : 'deer',
      severity: index % 10 === 0 ? 'alert' : 'detection',
      score: 0.83,
      startedAt,
    })),
  }
}

/** The process's memory according to the kernel; 0 where that is unknown. */
function residentMegabytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Math.round(Number(kilobytes) / 1_000)
  } catch {
    return 0
  }
}
