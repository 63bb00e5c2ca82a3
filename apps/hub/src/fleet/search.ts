/**
 * What people search the fleet by: of each gateway one text of its name, place, id and address, in order of names, kept
 * in memory until the fleet changes. Looking through ten thousand takes a fraction of a millisecond, where a database
 * would read as many whole rows. Finds ids; their rows, and whether the caller may see them, are the database's to say.
 */
import type { FactKind } from '@hedgerow/contract'
import type { Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { dropAfter } from '../facts/facts.ts'
import { nameKey } from '../kernel/name-key.ts'

export type Found = { id: string; nameKey: string }

export type FleetSearch = {
  /**
   * Whose gateways (undefined: everybody's) hold `text`, whatever its case; by name, behind the name `after`, and no
   * more than `limit`.
   */
  find(text: string, range: { ownerId?: string; after?: string; limit?: number }): Promise<Found[]>
}

const STALE_AFTER = [
  'gateway.added',
  'gateway.approved',
  'gateway.edited',
  'gateway.renamed',
  'gateway.claimed',
  // A claim that waited for the new keys' approval takes the gateway over.
  'gateway.rekeyed',
  'gateway.deleted',
  // Its gateways have no owner any more.
  'user.deleted',
] as const satisfies FactKind[]

type Entry = Found & { ownerId: string | null; text: string }

/** In no name and in nothing that is searched for: `nameKey` makes it a space. */
const SEPARATOR = '\n'

export function createFleetSearch(db: Kysely<Tables>): FleetSearch {
  let kept: Promise<Entry[]> | undefined

  function entries(): Promise<Entry[]> {
    if (kept) return kept
    const mine = readEntries(db)
    kept = mine
    mine.catch(() => {
      if (kept === mine) kept = undefined
    })
    return mine
  }

  dropAfter(db, 'fleet-search', STALE_AFTER, () => {
    kept = undefined
  })

  return {
    async find(text, { ownerId, after, limit = Infinity }) {
      const all = await entries()
      const sought = nameKey(text)
      const found: Found[] = []
      for (let i = after === undefined ? 0 : positionBehind(all, after); i < all.length && found.length < limit; i++) {
        const entry = all[i]!
        if ((ownerId === undefined || entry.ownerId === ownerId) && entry.text.includes(sought)) found.push(entry)
      }
      return found
    },
  }
}

async function readEntries(db: Kysely<Tables>): Promise<Entry[]> {
  const rows = await db
    .selectFrom('gateways')
    .select(['id', 'name_key', 'location', 'address', 'owner_id'])
    .orderBy('name_key')
    .execute()
  return rows.map(({ id, name_key, location, address, owner_id }) => ({
    id,
    nameKey: name_key,
    ownerId: owner_id,
    text: [name_key, nameKey(location), id, address].join(SEPARATOR),
  }))
}

/** The order is the database's own, so a name is looked for, and compared only when its gateway has gone meanwhile. */
function positionBehind(all: readonly Entry[], name: string): number {
  const at = all.findIndex(({ nameKey }) => nameKey === name)
  if (at >= 0) return at + 1
  const next = all.findIndex(({ nameKey }) => nameKey > name)
  return next < 0 ? all.length : next
}
