import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { createSharedCommits } from '../database/shared-commits.ts'
import { factsOf } from '../facts/facts.ts'
import { storeBatches, type Batch, type PicturedDetection } from './detections.ts'

const JPEG = Buffer.from('/9j/AAAA', 'base64')

describe.each(testEngines)('batches of several gateways in one transaction on %s', (engine) => {
  let hub: TestHub
  let now: number
  beforeEach(async () => {
    hub = await startTestHub(engine)
    now = hub.clock.now()
  })
  afterEach(() => hub.stop())

  const seen = (id: string, change: Partial<PicturedDetection> = {}): PicturedDetection => ({
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'alert',
    score: 0.5,
    startedAt: new Date(now - 60_000).toISOString(),
    ...change,
  })
  const batch = (gatewayId: string, ...detections: PicturedDetection[]): Batch => ({ gatewayId, detections, at: now })

  /** A fleet of three gateways, two of which have an owner. */
  async function insertFleet(): Promise<string[]> {
    const { id: owner } = await hub.db.selectFrom('users').select('id').executeTakeFirstOrThrow()
    const owners = [owner, null, owner]
    return Promise.all(owners.map((id) => insertTestGateway(hub.db, ownedBy(id))))
  }

  /** Everything that is stored about a fleet, in words that do not name a gateway or an incident. */
  async function storedOf(fleet: string[]) {
    const rowsOf = async (table: 'detections' | 'incidents' | 'thumbnails' | 'incident_cameras') => {
      const rows = await hub.db.selectFrom(table).selectAll().where('gateway_id', 'in', fleet).execute()
      return rows as Record<string, unknown>[]
    }
    const incidents = await rowsOf('incidents')
    const wordsOf = new Map(incidents.map((row) => [row['id'], `${String(row['label'])} ${String(row['started_at'])}`]))
    const anonymous = ({ id, ...row }: Record<string, unknown>) => ({
      ...row,
      id: wordsOf.get(id) ?? id,
      gateway_id: fleet.indexOf(String(row['gateway_id'])),
      incident_id: wordsOf.get(row['incident_id']) ?? row['incident_id'],
    })
    const sorted = (rows: Record<string, unknown>[]) => rows.map((row) => JSON.stringify(anonymous(row))).toSorted()
    const facts = await hub.db
      .selectFrom('facts')
      .select(['gateway_id', 'data'])
      .where('gateway_id', 'in', fleet)
      .execute()
    const totals = await hub.db.selectFrom('detection_totals').selectAll().where('gateway_id', 'in', fleet).execute()
    return {
      detections: sorted(await rowsOf('detections')),
      incidents: sorted(incidents),
      cameras: sorted(await rowsOf('incident_cameras')),
      pictures: sorted(await rowsOf('thumbnails')),
      totals: sorted(totals),
      facts: facts
        .map(({ gateway_id: id, data }) => [fleet.indexOf(id!), ...withoutIds(data)])
        .map((fact) => JSON.stringify(fact))
        .toSorted(),
    }
  }

  const detection = fc.record({
    gateway: fc.integer({ min: 0, max: 2 }),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    ago: fc.integer({ min: 0, max: 5_000 }),
    label: fc.constantFrom('boar', 'deer'),
    camera: fc.constantFrom('orchard', 'gate'),
    severity: fc.constantFrom('alert' as const, 'detection' as const),
    validated: fc.boolean(),
    hasPicture: fc.boolean(),
  })

  it('store what they store one after the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(detection, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (all) => {
        const fleets = [await insertFleet(), await insertFleet()] as const
        const batchesOf = (fleet: string[]) =>
          all.map((some, index) =>
            batch(
              fleet[some[0]!.gateway]!,
              ...some.map(({ id, ago, label, camera, severity, validated, hasPicture }, at) =>
                seen(id, {
                  label,
                  camera,
                  severity,
                  validated,
                  startedAt: new Date(now - ago * 1_000).toISOString(),
                  jpeg: hasPicture ? JPEG : undefined,
                  // Of pictures with equal scores, either may be an incident's cover.
                  score: (index * 10 + at) / 100,
                }),
              ),
            ),
          )
        for (const one of batchesOf(fleets[0])) await storeBatches(hub.db, [one])
        if (all.length > 0) await storeBatches(hub.db, batchesOf(fleets[1]))
        expect(await storedOf(fleets[1])).toEqual(await storedOf(fleets[0]))
      }),
      { numRuns: 25 },
    )
  })

  it('of a deleted gateway undo no other, and only its caller gets the error', async () => {
    const [barn, mill] = (await insertFleet()) as [string, string]
    const store = createSharedCommits<Batch>((batches) => storeBatches(hub.db, batches))
    const ends = await Promise.allSettled([
      store(batch(barn, seen('a')), 0.1),
      store(batch(barn, seen('b')), 0.1),
      store(batch('gone', seen('c')), 0.1),
      store(batch(mill, seen('d')), 0.1),
    ])
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(ends[2]).toMatchObject({ reason: { code: 'gateway_unknown' } })
    const rows = await hub.db.selectFrom('detections').select('id').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'd'])
  })

  it('are told to followers together', async () => {
    const followed: number[] = []
    factsOf(hub.db).follow({
      name: 'counter',
      kinds: ['detection.reported'],
      inTransaction: async (_transaction, facts) => void followed.push(facts.length),
    })
    const fleet = await insertFleet()
    const store = createSharedCommits<Batch>((batches) => storeBatches(hub.db, batches))
    await Promise.all(fleet.map((id) => store(batch(id, seen('a')), 0.1)))
    expect(followed).toEqual([1, 2])
  })
})

/** The words of a fact of detections, without the ids of incidents. */
function withoutIds(data: string): unknown[] {
  const { incidents, alerts, count } = JSON.parse(data) as {
    incidents: { id: string }[]
    alerts: object
    count: number
  }
  return [count, alerts, incidents.map((incident) => JSON.stringify({ ...incident, id: undefined })).toSorted()]
}
