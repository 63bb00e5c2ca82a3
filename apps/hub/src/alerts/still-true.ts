/**
 * Which things of an alert are still true. A message that waited does not report an outage that is over, for example.
 */
import type { Certificates } from '../certificates/certificates.ts'
import type { StorageWatch } from '../database/storage-watch.ts'
import type { Db } from '../database/tables.ts'
import { linesIn, type AlertRow, type Counts } from './alert-rows.ts'
import type { Line } from './words.ts'

/** The parts that know whether a warning about the hub itself is still true. */
export type HubNow = { storage: Pick<StorageWatch, 'hasRoom'>; certificates: Pick<Certificates, 'list'> }
type Left = { lines: readonly Line[]; counts: Counts }

const NOTHING: Left = { lines: [], counts: {} }

/** The alert without the things that are over; none may be left. */
export async function stillTrue(db: Db, alert: AlertRow, hub: HubNow): Promise<AlertRow> {
  const left = await leftOf(db, alert, { stored: storedIn(alert), hub })
  return { ...alert, lines: JSON.stringify(left.lines), counts: JSON.stringify(left.counts) }
}

/** Whether a request of this alert still waits. */
export async function isWaitedFor(db: Db, alert: AlertRow): Promise<boolean> {
  return (await waitingRequests(db, storedIn(alert))).lines.length > 0
}

function storedIn({ lines, counts }: AlertRow): Left {
  return { lines: linesIn(lines), counts: JSON.parse(counts) as Counts }
}

async function leftOf(db: Db, { id, kind }: AlertRow, { stored, hub }: { stored: Left; hub: HubNow }): Promise<Left> {
  if (kind === 'gateway-quiet' || kind === 'gateway-warning' || kind === 'camera-dark') return outages(db, id, stored)
  if (kind === 'approval') return waitingRequests(db, stored)
  if (kind === 'disk') return hub.storage.hasRoom() ? NOTHING : stored
  if (kind === 'certificate') return expiringCertificates(stored, hub)
  if (kind === 'backup') return (await wasMadeSince(db, stored)) ? NOTHING : stored
  if (kind === 'detection' || kind === 'deterrent-failed') return ofKnownGateways(db, stored)
  return stored
}

/** An outage has a row while it lasts. */
async function outages(db: Db, alertId: string, { lines }: Left): Promise<Left> {
  const rows = await db.selectFrom('alert_problems').select('line').where('alert_id', '=', alertId).execute()
  const lasting = rows.map(({ line }) => JSON.parse(line) as Line)
  const names = new Set(lasting.map(nameOf))
  const shown = lines.filter((line) => names.has(nameOf(line)))
  const byGateway = Map.groupBy(lasting, ({ gatewayId }) => gatewayId)
  return {
    // An alert stores only the first lines of many.
    lines: shown.length > 0 ? shown : lasting,
    counts: Object.fromEntries([...byGateway].map(([gatewayId, ofGateway]) => [gatewayId, ofGateway.length])),
  }
}

const nameOf = ({ gatewayId, camera }: Line) => `${gatewayId} ${camera}`

async function waitingRequests(db: Db, stored: Left): Promise<Left> {
  const ids = stored.lines.map(({ id }) => id)
  const waiting = db.selectFrom('registrations').select('id').where('id', 'in', ids).where('status', '=', 'pending')
  return without(stored, new Set((await waiting.execute()).map(({ id }) => id)), ({ id }) => id)
}

/** A certificate that was replaced expires at another time. */
function expiringCertificates(stored: Left, { certificates }: HubNow): Left {
  const expiries = new Map(certificates.list().map(({ id, expiresAt }) => [id as string, expiresAt.slice(0, 10)]))
  const lasting = stored.lines.filter(({ id, detail }) => expiries.get(id) === detail)
  return without(stored, new Set(lasting.map(({ id }) => id)), ({ id }) => id)
}

/** By the record of it, whose file may have been moved since. */
async function wasMadeSince(db: Db, { lines }: Left): Promise<boolean> {
  const failedAt = Math.max(...lines.map(({ startedAt }) => startedAt))
  const made = db.selectFrom('backups').select('id').where('bytes', 'is not', null).where('begun_at', '>=', failedAt)
  return (await made.limit(1).executeTakeFirst()) !== undefined
}

async function ofKnownGateways(db: Db, stored: Left): Promise<Left> {
  const ids = stored.lines.map(({ gatewayId }) => gatewayId)
  const existing = db.selectFrom('gateways').select('id').where('id', 'in', ids)
  const left = without(stored, new Set((await existing.execute()).map(({ id }) => id)), ({ gatewayId }) => gatewayId)
  const shown = new Set(left.lines.map(({ gatewayId }) => gatewayId))
  return { ...left, counts: Object.fromEntries(Object.entries(left.counts).filter(([id]) => shown.has(id))) }
}

/** The hub assumes that things beyond the stored lines are like the others. */
function without({ lines, counts }: Left, remaining: ReadonlySet<string>, idOf: (line: Line) => string): Left {
  const left: Record<string, number> = { ...counts }
  for (const line of lines) if (!remaining.has(idOf(line))) left[line.gatewayId] = (left[line.gatewayId] ?? 0) - 1
  return { lines: lines.filter((line) => remaining.has(idOf(line))), counts: left }
}
