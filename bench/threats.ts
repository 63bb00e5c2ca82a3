import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { listGateways, login } from '@hedgerow/contract'
import { sql, type Kysely } from 'kysely'
import { openDatabase } from '../apps/hub/src/database/database.ts'
import type { Tables } from '../apps/hub/src/database/tables.ts'
import { startPostgres } from '../apps/hub/testing/postgres.ts'
import { ensureWebBuilt } from '../scripts/web-build.ts'
import { createApi } from '../test/harness/api-client.ts'
import { startBrowser } from '../test/harness/browser.ts'
import { startHub, type Hub } from '../test/harness/hub.ts'
import { enterAs } from '../test/harness/session.ts'
import { createFleet } from './fleet.ts'
import { distributionOf, reportGoals, type Measured } from './report.ts'
import { scrollFrames } from './web-list.ts'
import { SLOWED } from './web-pages.ts'

/**
 * Threats over a long history: how long the hub needs for each filter, on both databases, and, with the browser slowed
 * four times, how long a person waits for the first pictures and how evenly the wall scrolls. `--detections 1000000
 * --databases sqlite,postgres --reads 100 --loads 20`. `--filled FILE` keeps the filled SQLite database for later runs.
 */
export async function benchThreats(args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const
  const { values } = parseArgs({
    args,
    options: {
      detections: text('1000000'),
      databases: text('sqlite,postgres'),
      reads: text('100'),
      loads: text('20'),
      filled: { type: 'string' },
    },
  })
  await ensureWebBuilt()
  // One database after the other: the first one's figures are printed before the second begins.
  for (const engine of values.databases.split(',')) {
    const found = await benchDatabase(engine, {
      detections: Number(values.detections),
      reads: Number(values.reads),
      loads: Number(values.loads),
      filled: values.filled,
    })
    reportGoals(`threats on ${engine}`, found)
  }
}

const GATEWAYS = 64
/** Their tag selects more gateways than the hub reads one by one. */
const TAGGED = 40
const DAYS = 25
const DAY_MS = 86_400_000
/** The newest incidents have pictures; the others are never in view. */
const PICTURES = 2_000
const FILTER_GOAL_MS = 100
const FIRST_PICTURES_GOAL_MS = 1_000
const FRAME_GOAL_MS = 50

type Sizes = { detections: number; reads: number; loads: number; filled: string | undefined }

async function benchDatabase(
  engine: string,
  { detections, reads, loads, filled }: Sizes,
): Promise<Record<string, Measured>> {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-bench-threats-'))
  const postgres = engine === 'postgres' ? await startPostgres({ isDurable: true }) : undefined
  const file = join(folder, 'hub.sqlite')
  const url = postgres ? postgres.url('postgres') : `sqlite:${file}`
  const keptFile = postgres ? undefined : filled
  if (keptFile !== undefined && existsSync(keptFile)) copyFileSync(keptFile, file)
  else {
    const fleet = await createFleet(url, GATEWAYS)
    const { db, close } = await openDatabase({ url })
    await fill(db, engine, { detections, gatewayIds: fleet.map(({ id }) => id) })
    await close()
    if (keptFile !== undefined) copyFileSync(file, keptFile)
  }
  const hub = await startHub({ env: { HUB_DATABASE_URL: url } })
  try {
    const rows: Record<string, Measured> = {}
    const token = await signIn(hub)
    for (const [what, path] of Object.entries(filters((await hub.api(listGateways))[0]!.id))) {
      const ms: number[] = []
      for (let read = 0; read < reads; read += 1) ms.push(await timeOf(hub, token, path))
      rows[`${what}, ms`] = { ...distributionOf(ms), of: 'p99', goal: FILTER_GOAL_MS }
    }
    const { paintMs, frameMs } = await browse(hub, loads)
    rows['first pictures, ms'] = { ...distributionOf(paintMs), of: 'p95', goal: FIRST_PICTURES_GOAL_MS }
    rows['scrolling: one frame, ms'] = { ...distributionOf(frameMs), of: 'p95', goal: FRAME_GOAL_MS }
    return rows
  } finally {
    await hub.stop()
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function filters(gatewayId: string): Record<string, string> {
  const list = (query: string) => `/api/v1/hub/incidents?limit=60${query}`
  const counts = (query: string) => `/api/v1/hub/incidents/counts?${query}`
  const longAgo = new Date(Date.now() - (DAYS - 1) * DAY_MS).toISOString()
  return {
    newest: list(''),
    'one label': list('&label=label-3'),
    'a rare label': list('&label=rare'),
    'a label that is not there': list('&label=nothing'),
    alerts: list('&severity=alert'),
    'to review': list('&review=none'),
    'false alarms': list('&review=wrong'),
    'deterrent fired': list('&fired=yes'),
    'one gateway': list(`&gateway=${gatewayId}`),
    'one camera': list(`&gateway=${gatewayId}&camera=camera-1`),
    'a camera that is not there': list(`&gateway=${gatewayId}&camera=nothing`),
    'one site': list('&site=Field%203'),
    'forty gateways': list('&tag=many'),
    'a rare label of one site, fired, wrong': list('&site=Field%203&label=rare&fired=yes&review=wrong'),
    'three weeks ago': list(`&to=${encodeURIComponent(longAgo)}`),
    counts: counts(''),
    'counts of a gateway': counts(`gateway=${gatewayId}`),
    'counts of forty gateways': counts('tag=many'),
    'counts of a camera': counts(`gateway=${gatewayId}&camera=camera-1`),
  }
}

async function signIn({ url, admin }: Hub): Promise<string> {
  const answer = await createApi(url)(login, { body: admin })
  if ('challenge' in answer) throw new Error('the admin of the bench signs in with two-factor')
  return answer.accessToken
}

async function timeOf(hub: Hub, token: string, path: string): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(`${hub.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  return performance.now() - startedAt
}

/**
 * In a browser at a quarter of the machine's speed. `paintMs`: from the click on Threats to the first pictures on the
 * screen, in a page that is loaded. `frameMs`: from one frame to the next while the wheel scrolls through the wall.
 */
async function browse(hub: Hub, loads: number): Promise<{ paintMs: number[]; frameMs: number[] }> {
  const browser = await startBrowser()
  try {
    const person = await browser.person({ viewport: { width: 1440, height: 900 } })
    const page = await person.newPage()
    await enterAs(page, hub, hub.admin)
    const paintMs: number[] = []
    const devtools = await person.newCDPSession(page)
    const slow = (rate: number) => devtools.send('Emulation.setCPUThrottlingRate', { rate })
    for (let load = 0; load < loads; load += 1) {
      await slow(1)
      await page.goto(`${hub.url}/users`)
      await page.locator('tbody').waitFor()
      await slow(SLOWED)
      paintMs.push(await page.evaluate(clickAndWait))
    }
    return { paintMs, frameMs: await scrollFrames(page) }
  } finally {
    await browser.close()
  }
}

/** Runs in the page. */
function clickAndWait(): Promise<number> {
  const startedAt = performance.now()
  document.querySelector<HTMLElement>('a[href="/threats"]')?.click()
  return new Promise((resolve) => {
    const look = () => {
      const pictures = [...document.querySelectorAll<HTMLImageElement>('[aria-label="Incidents"] img')]
      if (pictures.some((picture) => picture.complete && picture.naturalWidth > 0))
        requestAnimationFrame(() => resolve(performance.now() - startedAt))
      else requestAnimationFrame(look)
    }
    look()
  })
}

/** Two detections an incident, over all gateways, newest first; one label in ten thousand is rare. */
async function fill(
  db: Kysely<Tables>,
  engine: string,
  { detections, gatewayIds }: { detections: number; gatewayIds: readonly string[] },
): Promise<void> {
  const incidents = detections / 2
  const stepMs = (DAYS * DAY_MS) / incidents
  const now = Date.now()
  const numbers =
    engine === 'postgres'
      ? sql`generate_series(1, ${sql.lit(incidents)}) as n`
      : sql`(with recursive s(n) as (select 1 union all select n + 1 from s where n < ${sql.lit(incidents)}) select n from s) as numbers`
  await sql`create table bench_gateways (number integer primary key, id text not null)`.execute(db)
  for (const [number, id] of gatewayIds.entries())
    await sql`insert into bench_gateways (number, id) values (${number}, ${id})`.execute(db)
  const at = sql`cast(${now} as double precision) - cast(n as double precision) * ${sql.lit(stepMs)}`
  const label = sql`case when n % 10000 = 0 then 'rare' else 'label-' || (n % 7) end`
  const camera = sql`'camera-' || ((n / ${sql.lit(gatewayIds.length)}) % 4)`
  await sql`insert into incidents (id, gateway_id, label, reported_label, severity, started_at, last_at, detections,
      cover_id, camera, score, fired, verdict, reviewed_by, reviewed_at)
    select 'i' || n, g.id, ${label}, ${label}, case when n % 5 = 0 then 'alert' else 'detection' end, ${at}, ${at} + 9000,
      2, 'd' || n || '-0', ${camera}, 0.8, case when n % 50 = 0 then 1 else 0 end,
      case when n % 3 = 0 then 'wrong' when n % 3 = 1 then 'right' end,
      case when n % 3 < 2 then 'rosa' end, case when n % 3 < 2 then ${at} + 60000 end
    from ${numbers} join bench_gateways g on g.number = n % ${sql.lit(gatewayIds.length)}`.execute(db)
  for (const part of [0, 1])
    await sql`insert into detections (gateway_id, id, camera, label, severity, score, started_at, ended_at, received_at,
        incident_id, thumbnail_bytes)
      select g.id, 'd' || n || '-' || ${sql.lit(String(part))}, ${camera}, ${label},
        case when n % 5 = 0 then 'alert' else 'detection' end, 0.8, ${at} + ${sql.lit(part * 5000)},
        ${at} + ${sql.lit(part * 5000 + 4000)}, ${at}, 'i' || n,
        case when n <= ${sql.lit(PICTURES)} then 2000 end
      from ${numbers} join bench_gateways g on g.number = n % ${sql.lit(gatewayIds.length)}`.execute(db)
  await sql`insert into incident_cameras (incident_id, camera, gateway_id, started_at)
    select id, camera, gateway_id, started_at from incidents`.execute(db)
  const jpeg = readFileSync(join(import.meta.dirname, '..', 'scripts', 'demo-frames', 'boar.jpg'))
  await sql`insert into thumbnails (gateway_id, detection_id, jpeg)
    select gateway_id, id, ${jpeg} from detections where thumbnail_bytes is not null`.execute(db)
  await sql`update gateways set tags = '["many"]' where id in (
    select id from bench_gateways where number < ${sql.lit(TAGGED)})`.execute(db)
  await sql`drop table bench_gateways`.execute(db)
  // SQLite knows nothing of the numbers of rows on any hub, PostgreSQL finds them out by itself.
  if (engine === 'postgres') await sql`analyze`.execute(db)
}
