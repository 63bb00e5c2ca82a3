/**
 * Facts and their followers. A verb records a fact in its own transaction; all other effects follow from the fact, so
 * that a verb does not know its followers and cannot omit one. The table `facts` is the log: ids only rise, each row
 * has its actor and time, and a reader continues after the last id that it read.
 */
import type { Fact, FactActor, FactKind } from '@hedgerow/contract'
import type { Kysely, Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { Caller } from '../access/sessions.ts'
import type { Db, Tables } from '../database/tables.ts'
import { afterCommit, databaseOf, inTransaction } from '../database/transaction.ts'

/** SQLite takes 32,766 variables in a statement, and a fact has nine. */
const ROWS_AT_ONCE = 3_000

export const HUB: FactActor = { name: 'hub' }

/** Runs within the transaction: an error rolls everything back. */
export type TransactionFollower<K extends FactKind = FactKind> = {
  name: string
  kinds: readonly K[]
  inTransaction(transaction: Transaction<Tables>, facts: readonly Fact<K>[]): Promise<void>
}

/**
 * Runs after the commit: an error is logged and stops no other follower. It may get a fact twice and, after a crash,
 * not at all, so it reads the database again, and its state starts from the database.
 */
export type CommitFollower<K extends FactKind = FactKind> = {
  name: string
  kinds: readonly K[]
  /** `memory` updates this process's state from the database; `notify` then informs clients, which read again. */
  stage: 'memory' | 'notify'
  afterCommit(facts: readonly Fact<K>[]): void | Promise<void>
}

export type Facts = {
  follow<K extends FactKind>(follower: TransactionFollower<K> | CommitFollower<K>): void
  /** All followers after the commit, for tests and documents. */
  followers(): readonly (TransactionFollower | CommitFollower)[]
}

type Journal = { log: Logger; inTransaction: TransactionFollower[]; afterCommit: CommitFollower[] }

const journals = new WeakMap<Kysely<Tables>, Journal>()
const recorded = new WeakMap<Transaction<Tables>, Fact[]>()

/** Prepares a database for recording facts; required before the first one. */
export function openFacts(db: Kysely<Tables>, { log }: { log: Logger }): Facts {
  const journal: Journal = { log, inTransaction: [], afterCommit: [] }
  journals.set(db, journal)
  return factsOf(db)
}

/** For modules that follow a database's facts by themselves, such as a cache. */
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

/** Stores facts, runs their followers in the transaction, and the others after its commit. */
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
    if (!earlier) afterCommit(transaction, () => notifyFollowers(journal, recorded.get(transaction) ?? all))
  })
}

/** The name of who acts, as the audit and others have it. */
export const nameOf = ({ username, token }: Pick<Caller, 'username' | 'token'>): string =>
  token === undefined ? username : `${username} (token ${token.name})`

/** Who acts, from where and when: each verb of a person takes one, and `by` puts it into the facts that it records. */
export type Act = { actor: Caller; sourceIp: string; now: number }

/** Of a fact: who did it, and when. */
export type Authorship = Pick<Fact, 'at' | 'actor'>

export function by({
  actor,
  sourceIp,
  now,
}: Omit<Act, 'actor'> & { actor: Pick<Caller, 'username' | 'userId' | 'token'> }): Authorship {
  return { at: now, actor: { name: nameOf(actor), userId: actor.userId, sourceIp } }
}

async function notifyFollowers({ log, afterCommit: followers }: Journal, facts: readonly Fact[]): Promise<void> {
  for (const stage of ['memory', 'notify'] as const)
    for (const follower of followers) {
      if (follower.stage !== stage) continue
      const followed = factsFor(follower, facts)
      if (followed.length === 0) continue
      try {
        await follower.afterCommit(followed)
      } catch (error) {
        log.error({ err: error, follower: follower.name }, 'a follower failed after the commit')
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
