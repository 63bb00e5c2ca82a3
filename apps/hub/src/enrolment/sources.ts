/** The sources of many requests, and one decision about all waiting requests of a source. */
import type { Kysely } from 'kysely'
import { OWNED } from '../access/ownership.ts'
import type { Db, Tables } from '../database/tables.ts'
import { inTransaction } from '../database/transaction.ts'
import { crowdsOf } from '../access/networks.ts'
import { record } from '../facts/facts.ts'
import { oldestPending, type Decision } from './enrolment.ts'
import { createFindTrusted } from './trusted-sources.ts'

/** Fewer requests are decided one by one. */
const MANY = 5
const SOURCES_MAX = 10
/** Rows changed by one statement: databases limit its parameters. */
const CHUNK = 500

export type Source = { source: string; waiting: number }

/** The sources of at least five requests, those that fill the queue most first; none contains another. */
export async function listSources(db: Db, now: number): Promise<Source[]> {
  const counts = new Map<string, { waiting: number; crowding: number; lineages: Set<string> }>()
  for (const { source_ip: address } of await waitingFromStrangers(db, now)) {
    const networks = crowdsOf(address)
    for (const { cidr, share } of networks) {
      const count = counts.get(cidr) ?? { waiting: 0, crowding: 0, lineages: new Set<string>() }
      count.waiting++
      count.crowding = count.waiting / share
      for (const other of networks) count.lineages.add(other.cidr)
      counts.set(cidr, count)
    }
  }
  const many = [...counts]
    .filter(([, { waiting }]) => waiting >= MANY)
    .toSorted(([, a], [, b]) => b.crowding - a.crowding)
  const named: Source[] = []
  for (const [source, { waiting, lineages }] of many) {
    if (named.length >= SOURCES_MAX) break
    if (!named.some((wider) => lineages.has(wider.source))) named.push({ source, waiting })
  }
  return named
}

/** Rejects all waiting requests of a source with one audit entry. Returns their ids. */
export function rejectSource(
  db: Kysely<Tables>,
  { source, reason, at, actor }: Omit<Decision, 'id'> & { source: string; reason: string },
): Promise<string[]> {
  return inTransaction(db, async (transaction) => {
    const find = createFindTrusted(
      source.includes('/')
        ? { ipWhitelist: [], networkRanges: [source] }
        : { ipWhitelist: [source], networkRanges: [] },
    )
    const ids = (await waitingFromStrangers(transaction, at))
      .filter((row) => find(row.source_ip) !== undefined)
      .map((row) => row.id)
    for (let start = 0; start < ids.length; start += CHUNK)
      await transaction
        .updateTable('registrations')
        .set({ status: 'rejected', reason, decided_at: at, decided_by: actor.name })
        .where('id', 'in', ids.slice(start, start + CHUNK))
        .execute()
    await record(transaction, {
      kind: 'registration.source-rejected',
      at,
      actor,
      target: source,
      data: { registrationIds: ids },
    })
    return ids
  })
}

async function waitingFromStrangers(db: Db, now: number) {
  return db
    .selectFrom('registrations')
    .select(['id', 'source_ip'])
    .where('status', '=', 'pending')
    .where('requested_at', '>', await oldestPending(db, now))
    .where('key_change_for', 'is', null)
    .where(OWNED, 'is', null)
    .execute()
}
