/**
 * The one cache of what the hub reads. Each kept read names the facts that make it stale: after the commit of one, and
 * before clients hear of it, the next caller waits for a new read. Between facts it is at most `maxAgeMs` old.
 */
import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { factsOf, type CommitFollower } from './facts.ts'

/** At this part of its age, an answer is read again, and nobody waits for that. */
const READ_AGAIN_AT = 5 / 6

type Options<T, Of extends unknown[]> = {
  name: string
  kinds: readonly FactKind[]
  /** No limit by default. An answer of age 0 is shared by those who ask during its read, and not kept. */
  maxAgeMs?: number | ((answer: T) => number)
  /** Those with the same key share an answer. By default all do. */
  keyOf?: (...of: Of) => string
  /** More answers are not kept. */
  maxKeys?: number
  /** Only an answer is shared, and no first read under way: it may lack what no fact of `kinds` tells. */
  onlyAnswers?: boolean
}

type Entry<T> = {
  answer: Promise<T>
  /** Until then, nothing is read again. */
  freshUntil: number
  /** Until then, it is used. */
  usedUntil: number
  /** Used during the read. */
  former: Entry<T> | undefined
}

/** As a follower: the test that changes everything compares the two. */
export type CachedRead = CommitFollower & {
  cached(...of: unknown[]): Promise<unknown>
  fresh(...of: unknown[]): Promise<unknown>
}

/** `read` with a memory. All who ask during a read wait for that read; one that fails is not kept. */
export function cachedRead<T, Of extends unknown[] = []>(
  db: Kysely<Tables>,
  options: Options<T, Of>,
  read: (...of: Of) => Promise<T>,
): (...of: Of) => Promise<T> {
  const { name, kinds, maxAgeMs = Infinity, keyOf = () => '', maxKeys = Infinity, onlyAnswers = false } = options
  let entries = new Map<string, Entry<T>>()

  function begin(key: string, of: Of, now: number, former: Entry<T> | undefined): Entry<T> {
    const among = entries
    const freshUntil = onlyAnswers && !former ? 0 : Infinity
    const mine: Entry<T> = { answer: read(...of), freshUntil, usedUntil: 0, former }
    if (!among.has(key) && among.size >= maxKeys) among.clear()
    among.set(key, mine)
    const forget = () => {
      if (among.get(key) === mine) among.delete(key)
    }
    mine.answer.then((answer) => {
      const ageMs = typeof maxAgeMs === 'function' ? maxAgeMs(answer) : maxAgeMs
      mine.former = undefined
      mine.freshUntil = now + ageMs * READ_AGAIN_AT
      mine.usedUntil = now + ageMs
      if (ageMs <= 0) forget()
    }, forget)
    return mine
  }

  function get(...of: Of): Promise<T> {
    const [key, now] = [keyOf(...of), performance.now()]
    let entry = entries.get(key)
    if (!entry || now >= entry.freshUntil)
      entry = begin(key, of, now, entry && now < entry.usedUntil ? entry : undefined)
    return entry.former && now < entry.former.usedUntil ? entry.former.answer : entry.answer
  }

  const follower = {
    name,
    kinds,
    stage: 'memory' as const,
    // A read that began before the fact stays in the old map, where nobody finds it.
    afterCommit() {
      entries = new Map()
    },
    cached: get,
    fresh: read,
  }
  factsOf(db).follow(follower)
  return get
}
