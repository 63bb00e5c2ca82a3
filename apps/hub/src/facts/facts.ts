/**
 * Facts and their followers. A verb records what happened in its own transaction; whatever else has to happen follows
 * from the fact, so that a verb knows no follower and none can be forgotten. The table `facts` is the log: ids only
 * rise, each row names its actor and its time, and a reader that keeps the last id it saw reads on from there.
 */
import type { Fact, FactActor, FactKind } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Db, Tables } from '../database/tables.ts'
import { afterCommit, databaseOf, inTransaction } from '../database/transaction.ts'

/** SQLite takes 32,766 variables in a statement, and a fact has nine. */
const ROWS_AT_ONCE = 3_000

export const HUB: FactActor = { name: 'hub' }

/** Follows within the transaction: what it throws rolls everything back. */
export type TransactionFollower<K extends FactKind = FactKind> = {
  name: string
  kinds: readonly K[]
  inTransaction(transaction: Transaction<Tables>, facts: readonly Fact<K>[]): Promise<void>
}

/**
 * Follows after the commit: what it throws is logged, and undoes and stops nothing. It may hear of a fact twice and,
 * after a crash, not at all, so it reads the database again and what it keeps begins with the database.
 */
export type CommitFollower<K extends FactKind = FactKind> = {
  name: string
  kinds: readonly K[]
  /** `memory` makes this process agree with the database; then `tell` tells those who wait, who will ask again. */
  stage: 'memory' | 'tell'
  afterCommit(facts: readonly Fact<K>[]): void | Promise<void>
}

export type Facts = {
  follow<K extends FactKind>(follower: TransactionFollower<K> | CommitFollower<K>): void
  /** Who follows after the commit, for tests and documents. */
  followers(): readonly (TransactionFollower | CommitFollower)[]
}

type Journal = { log: Logger; inTransaction: TransactionFollower[]; afterCommit: CommitFollower[] }

const journals = new WeakMap<Kysely<Tables>, Journal>()
const recorded = new WeakMap<Transaction<Tables>, Fact[]>()

/** Makes a database one whose facts are followed. Nothing can be recorded before. */
export function openFacts(db: Kysely<Tables>, { log }: { log: Logger }): Facts {
  const journal: Journal = { log, inTransaction: [], afterCommit: [] }
  journals.set(db, journal)
  return factsOf(db)
}

/** For what is built on a database and follows its facts by itself, such as a cache. */
export function factsOf(db: Kysely<Tables>): Facts {
  const journal = journalOf(db)
  return {
    follow(follower) {
      if ('inTransaction' in follower) journal.inTransaction.push(follower)
      else journal.afterCommit.push(follower)
    },
    followers: () => [...journal.inTransaction, ...journal.afterCommit],
  }
}

/** Makes a cache `drop` what it keeps after each commit of one of these kinds, before anybody is told of it. */
export function dropAfter(db: Kysely<Tables>, name: string, kinds: readonly FactKind[], drop: () => void): void {
  factsOf(db).follow({ name, kinds, stage: 'memory', afterCommit: drop })
}

/** Writes facts down, has them followed in the transaction, and after its commit by the rest of the process. */
export function record(db: Db, ...facts: Fact[]): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const journal = journalOf(databaseOf(transaction))
    for (let start = 0; start < facts.length; start += ROWS_AT_ONCE)
      await transaction
        .insertInto('facts')
        .values(facts.slice(start, start + ROWS_AT_ONCE).map(toRow))
        .execute()
    for (const follower of journal.inTransaction) {
      const followed = factsFor(follower, facts)
      if (followed.length > 0) await follower.inTransaction(transaction, followed)
    }
    const earlier = recorded.get(transaction)
    const all = [...(earlier ?? []), ...facts]
    recorded.set(transaction, all)
    if (!earlier) afterCommit(transaction, () => tellCommitted(journal, recorded.get(transaction) ?? all))
  })
}

/** Who makes a request, as the actor of what follows from it. */
export function actorOf({
  caller,
  sourceIp,
}: {
  caller: { username: string; userId: string }
  sourceIp: string
}): FactActor {
  return { name: caller.username, userId: caller.userId, sourceIp }
}

async function tellCommitted({ log, afterCommit: followers }: Journal, facts: readonly Fact[]): Promise<void> {
  for (const stage of ['memory', 'tell'] as const)
    for (const follower of followers) {
      if (follower.stage !== stage) continue
      const followed = factsFor(follower, facts)
      if (followed.length === 0) continue
      try {
        await follower.afterCommit(followed)
      } catch (error) {
        log.error({ err: error, follower: follower.name }, 'what was committed could not be followed')
      }
    }
}

function factsFor({ kinds }: { kinds: readonly FactKind[] }, facts: readonly Fact[]): Fact[] {
  return facts.filter(({ kind }) => kinds.includes(kind))
}

function journalOf(db: Kysely<Tables>): Journal {
  const journal = journals.get(db)
  if (!journal) throw new Error('openFacts was not called for this database')
  return journal
}

function toRow({ kind, at, actor, target, gatewayId, siteId, data }: Fact) {
  return {
    kind,
    at,
    actor: actor.name,
    actor_id: actor.userId ?? null,
    source_ip: actor.sourceIp ?? null,
    target: target ?? null,
    gateway_id: gatewayId ?? null,
    site_id: siteId ?? null,
    data: JSON.stringify(data),
  }
}
