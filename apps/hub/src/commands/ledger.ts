/**
 * The entries of the gateways' ledgers: every firing and refusal, stored once however often it is sent. One transaction
 * stores and counts an entry and records its fact.
 */
import {
  ledgerEntry,
  ledgerLine,
  type CommandAction,
  type Fact,
  type LedgerEntry,
  type PageQuery,
} from '@hedgerow/contract'
import type { FastifyReply } from 'fastify'
import { sql, type Kysely, type Transaction } from 'kysely'
import { createNamedLimiter } from '../access/limiter.ts'
import { lockGateways } from '../database/gateway-locks.ts'
import { countInHours, startOfHour, WHOLE_FLEET } from '../database/hourly-stats.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { record } from '../facts/facts.ts'
import { pageFrom, sendPage } from '../http/pagination.ts'
import { HubError } from '../kernel/hub-error.ts'

const ENTRIES_SHOWN = 50
/** How many entries the hub keeps of each gateway; the device itself keeps more. */
const ENTRIES_KEPT = 10_000
/** An hour's worth of calls for a busy device; one that floods waits. */
const CALL_RATE = { burst: 30, perSecond: 0.1 }
const GATEWAYS_MAX = 100_000

export type LedgerIntake = (gatewayId: string, entries: readonly LedgerEntry[]) => Promise<void>

/** Stores a gateway's entries; committed when it resolves. Throws `too_many_requests` and `gateway_unknown`. */
export function createLedgerIntake(options: {
  db: Kysely<Tables>
  clock: () => number
  requireRoom: () => Promise<void>
}): LedgerIntake {
  const { db, clock, requireRoom } = options
  const calls = createNamedLimiter({ perName: CALL_RATE, namesMax: GATEWAYS_MAX, clock })
  return async (gatewayId, entries) => {
    calls.take(gatewayId)
    await requireRoom()
    await inTransaction(db, (transaction) => store(transaction, gatewayId, entries, clock()), 'read committed')
  }
}

async function store(
  transaction: Transaction<Tables>,
  gatewayId: string,
  entries: readonly LedgerEntry[],
  now: number,
): Promise<void> {
  const gateway = (await lockGateways(transaction, [gatewayId])).get(gatewayId)
  if (!gateway) throw new HubError('gateway_unknown')
  const rows = entries.map((entry) => ({
    gateway_id: gatewayId,
    entry_id: entry.id,
    at: entry.at,
    received_at: now,
    entry: JSON.stringify(entry),
  }))
  const inserted = await transaction
    .insertInto('ledger')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['gateway_id', 'entry_id', 'at']).doNothing())
    .returning(['entry_id', 'at'])
    .execute()
  const keys = new Set(inserted.map(({ entry_id: id, at }) => `${id} ${at}`))
  const news = entries.filter(({ id, at }) => keys.delete(`${id} ${at}`))
  if (news.length === 0) return
  await trim(transaction, gatewayId)
  const fired = news.filter(({ kind }) => kind === 'fired')
  const byHour = Map.groupBy(fired, ({ at }) => startOfHour(Math.min(at, now)))
  const counts = [...byHour].flatMap(([at, { length: firings }]) =>
    [WHOLE_FLEET, gatewayId].map((scope) => ({ at, scope, firings })),
  )
  await countInHours(transaction, counts)
  const written: Fact = {
    kind: 'ledger.written',
    at: now,
    actor: { name: 'gateway' },
    target: gatewayId,
    gatewayId,
    data: { entries: news.length },
  }
  await record(
    transaction,
    written,
    ...news.flatMap((entry) => factOf(entry, { gatewayId, gatewayName: gateway.name, now }) ?? []),
    ...(await usesOf(transaction, news, { gatewayId, gatewayName: gateway.name, now })),
  )
}

/** What people do at the device's own interface. Their commands through the hub have facts of their own. */
async function usesOf(
  transaction: Transaction<Tables>,
  entries: readonly LedgerEntry[],
  { gatewayId, gatewayName, now }: LedgerOf,
): Promise<Fact<'device.used'>[]> {
  const used = entries.filter(({ kind, by }) => by?.kind === 'person' && Object.hasOwn(COMMANDS_OF, kind))
  if (used.length === 0) return []
  const commands = await transaction
    .selectFrom('commands')
    .select(['action', 'by_name'])
    .where('gateway_id', '=', gatewayId)
    .where('created_at', '>', now - COMMAND_KNOWN_MS)
    .execute()
  const isCommand = ({ kind, by }: LedgerEntry) =>
    by?.via === 'hub' &&
    commands.some(({ action, by_name: name }) => name === by.name && COMMANDS_OF[kind]!.includes(action))
  return used
    .filter((entry) => !isCommand(entry))
    .map((entry) => ({
      kind: 'device.used',
      at: Math.min(entry.at, now),
      actor: { name: 'gateway' },
      target: gatewayId,
      gatewayId,
      data: { gatewayName, by: nameOf(entry), did: `${ledgerLine(entry)} ${whereOf(entry)}` },
    }))
}

const whereOf = ({ by }: LedgerEntry) => (by?.via === 'hub' ? 'on its pages through the hub' : 'at the device')

/** A command's entry comes within seconds. */
const COMMAND_KNOWN_MS = 300_000
const COMMANDS_OF: Readonly<Partial<Record<LedgerEntry['kind'], readonly CommandAction[]>>> = {
  fired: ['fire'],
  stopped: ['stop', 'disarm'],
  armed: ['arm'],
  disarmed: ['disarm'],
  snoozed: ['snooze'],
  maintenance: ['snooze'],
  'snooze-ended': ['end-snooze', 'arm'],
}

async function trim(transaction: Transaction<Tables>, gatewayId: string): Promise<void> {
  const newest = transaction
    .selectFrom('ledger')
    .where('gateway_id', '=', gatewayId)
    .orderBy('received_at', 'desc')
    .orderBy('entry_id', 'desc')
    .orderBy('at', 'desc')
  const last = await newest.select(['received_at', 'entry_id', 'at']).offset(ENTRIES_KEPT).limit(1).executeTakeFirst()
  if (!last) return
  await transaction
    .deleteFrom('ledger')
    .where('gateway_id', '=', gatewayId)
    .where(sql<boolean>`(received_at, entry_id, at) <= (${last.received_at}, ${last.entry_id}, ${last.at})`)
    .execute()
}

type LedgerOf = { gatewayId: string; gatewayName: string; now: number }

/** The fact that people are notified of; undefined for entries that only the ledger shows. */
function factOf(entry: LedgerEntry, { gatewayId, gatewayName, now }: LedgerOf): Fact | undefined {
  const { deterrent = 'all deterrents', seconds, message } = entry
  const about = { at: Math.min(entry.at, now), actor: { name: 'gateway' }, target: gatewayId, gatewayId }
  const by = { gatewayName, by: nameOf(entry) }
  const switched = { ...by, deterrent, detectionId: entry.by?.detection ?? null }
  if (entry.kind === 'fired')
    return { kind: 'deterrent.fired', ...about, data: { ...switched, seconds: seconds ?? null } }
  if (entry.kind === 'failed' || entry.kind === 'fault')
    return { kind: 'deterrent.failed', ...about, data: { ...switched, message: message ?? '' } }
  if (entry.kind === 'armed') return { kind: 'gateway.armed', ...about, data: by }
  if (entry.kind === 'disarmed') return { kind: 'gateway.disarmed', ...about, data: by }
  const did = { ...by, did: ledgerLine(entry) }
  if (entry.kind === 'snoozed' || entry.kind === 'maintenance') return { kind: 'gateway.snoozed', ...about, data: did }
  if (entry.kind === 'snooze-ended') return { kind: 'gateway.snooze-ended', ...about, data: did }
  if (entry.kind === 'file-saved') return { kind: 'device.file-saved', ...about, data: did }
  if (entry.kind === 'password-refused') return { kind: 'device.password-refused', ...about, data: did }
  return undefined
}

function nameOf({ by }: LedgerEntry): string {
  if (by?.kind === 'rule') return `the rule "${by.name ?? ''}"`
  if (by?.kind === 'program') return 'a program on the device'
  if (by?.name === undefined) return 'the device'
  return by.via === 'device' ? `${by.name} at the device` : by.name
}

/** A gateway's newest entries, or a page of them, newest first. */
export async function listLedger(
  db: Db,
  gatewayId: string,
  { query, reply }: { query: PageQuery; reply: FastifyReply },
): Promise<LedgerEntry[]> {
  const page = pageFrom(query, ['number', 'number', 'number'], ENTRIES_SHOWN)
  let selection = db
    .selectFrom('ledger')
    .select(['received_at', 'entry_id', 'at', 'entry'])
    .where('gateway_id', '=', gatewayId)
    .orderBy('received_at', 'desc')
    .orderBy('entry_id', 'desc')
    .orderBy('at', 'desc')
  if (page.after) {
    const [receivedAt, entryId, at] = page.after
    selection = selection.where(sql<boolean>`(received_at, entry_id, at) < (${receivedAt}, ${entryId}, ${at})`)
  }
  const rows = await selection.limit(page.rowsWanted ?? ENTRIES_SHOWN).execute()
  return sendPage(reply, rows, page, (row) => [row.received_at, row.entry_id, row.at]).map(({ entry }) =>
    ledgerEntry.parse(JSON.parse(entry)),
  )
}
