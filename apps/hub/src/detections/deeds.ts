/** What deterrents did about an incident: firings of its detections, with what the gateway's ledger says of them. */
import { ledgerEntry, type Deed, type StoredDetection } from '@hedgerow/contract'
import type { Db } from '../database/tables.ts'

/** A firing is in the ledger before its detection names it. */
const BEFORE_MS = 60_000
const ENTRIES_READ = 500

type Fired = Pick<StoredDetection, 'id' | 'firings'>

export async function deedsOf(db: Db, gatewayId: string, detections: readonly Fired[]): Promise<Deed[]> {
  const all = detections.flatMap(({ id, firings = [] }) => firings.map((firing) => ({ ...firing, detection: id })))
  const firings = [...new Map(all.map((firing) => [firing.id, firing])).values()]
  if (firings.length === 0) return []
  const first = Math.min(...firings.map(({ at }) => Date.parse(at)))
  const rows = await db
    .selectFrom('ledger')
    .select('entry')
    .where('gateway_id', '=', gatewayId)
    .where('received_at', '>=', first - BEFORE_MS)
    .orderBy('received_at')
    .limit(ENTRIES_READ)
    .execute()
  const entries = rows.map(({ entry }) => ledgerEntry.parse(JSON.parse(entry)))
  return firings.map(({ id, deterrent, at, seconds, outcome, reason = '', detection }) => ({
    deterrent,
    at,
    seconds,
    outcome,
    code:
      entries.find((one) => one.kind === outcome && one.by?.detection === detection && one.deterrent === deterrent)
        ?.code ?? null,
    reason,
    gone: entries.find(({ kind, firing }) => kind === 'looked' && firing === id)?.gone ?? null,
  }))
}
