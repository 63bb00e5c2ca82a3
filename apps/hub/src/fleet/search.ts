/**
 * Searches the fleet. For each gateway it keeps one text of name, place, tags, id and address in memory, ordered by
 * name, until the fleet changes. A search of ten thousand takes a fraction of a millisecond, where a database would
 * read as many whole rows. It returns ids; the database returns their rows and checks the caller's access.
 */
import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import { OWNED, type Owned } from '../access/ownership.ts'
import type { Scope } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { kept } from '../facts/kept.ts'
import { nameKey } from '../kernel/name-key.ts'

export type Found = { id: string; nameKey: string }

export type FleetSearch = {
  /**
   * The gateways (of the scope, or of everybody; with `tag`, if given) that contain `text`, ignoring case; by name,
   * after the name `after`, at most `limit`.
   */
  find(text: string, range: { scope?: Scope; tag?: string; after?: string; limit?: number }): Promise<Found[]>
}

const STALE_AFTER = [
  'gateway.added',
  'gateway.approved',
  'gateway.edited',
  'gateway.renamed',
  'gateway.tagged',
  'gateway.claimed',
  // A claim before new keys are approved changes the owner.
  'gateway.rekeyed',
  'gateway.deleted',
  // Its gateways lose their owner.
  'user.deleted',
] as const satisfies FactKind[]

type Entry = Found & Owned & { tags: readonly string[]; text: string }

/** In no name and in no search text: `nameKey` turns it into a space. */
const SEPARATOR = '\n'

export function createFleetSearch(db: Kysely<Tables>): FleetSearch {
  const entries = kept(db, { name: 'fleet-search', kinds: STALE_AFTER }, () => readEntries(db))
  return {
    async find(text, { scope, tag, after, limit = Infinity }) {
      const all = await entries()
      const sought = nameKey(text)
      const found: Found[] = []
      for (let i = after === undefined ? 0 : positionBehind(all, after); i < all.length && found.length < limit; i++) {
        const entry = all[i]!
        const isAsked = tag === undefined || entry.tags.includes(tag)
        if (isAsked && (scope === undefined || scope.has(entry)) && entry.text.includes(sought)) found.push(entry)
      }
      return found
    },
  }
}

async function readEntries(db: Kysely<Tables>): Promise<Entry[]> {
  const rows = await db
    .selectFrom('gateways')
    .select(['id', 'name_key', 'location', 'tags', 'address', OWNED])
    .orderBy('name_key')
    .execute()
  return rows.map(({ id, name_key, location, address, tags: stored, ...owned }) => {
    const tags = tagsOf({ tags: stored })
    return {
      id,
      nameKey: name_key,
      ...owned,
      tags,
      text: [name_key, nameKey(location), ...tags, id, address].join(SEPARATOR),
    }
  })
}

/**
 * The order is the database's, so the name is searched linearly; it is compared only when its gateway was deleted
 * meanwhile.
 */
function positionBehind(all: readonly Entry[], name: string): number {
  const at = all.findIndex(({ nameKey }) => nameKey === name)
  if (at >= 0) return at + 1
  const next = all.findIndex(({ nameKey }) => nameKey > name)
  return next < 0 ? all.length : next
}
