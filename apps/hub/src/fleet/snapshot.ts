/**
 * The fleet in memory: the row of every gateway. Lists, search, counts, statuses and outages read it; what changes by
 * itself, such as heartbeats and handshakes, is in `FleetSignals`. It is replaced, never changed: after facts, the next
 * reader reads the rows of their gateways again and gets a new list.
 */
import type { FactKind } from '@hedgerow/contract'
import { GATEWAY_TEXTS } from '@hedgerow/contract/gateway-fields'
import type { Kysely, Selectable } from 'kysely'
import { withOwner } from '../access/objects.ts'
import { SCOPE_FACTS, SCOPED, type Scoped } from '../access/scope.ts'
import type { Tables } from '../database/tables.ts'
import { tagsOf } from '../database/tags.ts'
import { factsOf } from '../facts/facts.ts'
import type { CachedRead } from '../facts/cached-read.ts'
import { nameKey } from '../kernel/name-key.ts'
import { slices } from '../kernel/slices.ts'
import { SITE_FACTS } from '../sites/sites.ts'

const COLUMNS = [
  'id',
  'kind',
  'name',
  'name_key',
  ...GATEWAY_TEXTS,
  'site_id',
  'device_token',
  'wireguard_public_key',
  'address',
  'source_ip',
  'created_at',
  // No fact tells of these: signals are newer.
  'endpoint_address',
  'last_handshake_at',
  'version',
] as const

export type FleetGateway = Readonly<
  Pick<Selectable<Tables['gateways']>, (typeof COLUMNS)[number]> &
    Scoped & {
      /** The owner's username. */
      owner: string | null
      site_name: string | null
      site_time_zone: string | null
      tags: readonly string[]
      /** What a search looks through. */
      text: string
    }
>

/** Every gateway, by name. */
export type Fleet = () => Promise<readonly FleetGateway[]>

export const FLEET_FACTS = [
  ...SCOPE_FACTS,
  'gateway.added',
  'gateway.approved',
  'gateway.rekeyed',
  'gateway.edited',
  'gateway.renamed',
  'gateway.tagged',
  ...SITE_FACTS,
  // The name of an owner.
  'user.updated',
  'user.deleted',
  // The tunnel starts anew, and forgets the handshakes that are in the rows.
  'settings.changed',
  'settings.restored',
] as const satisfies FactKind[]

/** In no name and in no search text: `nameKey` turns it into a space. */
const SEPARATOR = '\n'

export function createFleet(db: Kysely<Tables>): Fleet {
  let current: ReturnType<Fleet> | undefined
  let changed = new Set<string>()

  const readAll = async () => {
    const rows = await db.selectFrom('gateways').select('id').execute()
    return readAgain([], new Set(rows.map(({ id }) => id)))
  }

  async function readAgain(before: readonly FleetGateway[], ids: ReadonlySet<string>) {
    const gateways = before.filter(({ id }) => !ids.has(id))
    for await (const some of slices([...ids])) {
      const query = withOwner(db.selectFrom('gateways').where('gateways.id', 'in', some))
      const rows = await query
        .select(COLUMNS.map((column) => `gateways.${column}` as const))
        .leftJoin('sites', 'sites.id', 'gateways.site_id')
        .select(['sites.name as site_name', 'sites.time_zone as site_time_zone'])
        .select(['tags', ...SCOPED])
        .execute()
      for (const row of rows) {
        const tags = tagsOf(row)
        const places = row.site_name === null ? [row.location] : [row.location, row.site_name]
        const text = [row.name_key, ...places.map(nameKey), ...tags, row.id, row.address].join(SEPARATOR)
        gateways.push({ ...row, tags, text })
      }
    }
    return gateways.sort((a, b) => (a.name_key < b.name_key ? -1 : 1))
  }

  function read(): ReturnType<Fleet> {
    if (current && changed.size === 0) return current
    const ids = changed
    changed = new Set()
    const mine = current ? current.then((before) => readAgain(before, ids)) : readAll()
    current = mine
    mine.catch(() => {
      if (current === mine) current = undefined
    })
    return mine
  }

  const follower: CachedRead = {
    name: 'fleet',
    kinds: FLEET_FACTS,
    stage: 'memory',
    afterCommit(facts) {
      for (const { gatewayId } of facts) if (gatewayId !== undefined) changed.add(gatewayId)
      if (facts.every(({ gatewayId }) => gatewayId !== undefined) && facts.length > 0) return
      current = undefined
    },
    cached: read,
    fresh: readAll,
  }
  factsOf(db).follow(follower)
  return read
}
