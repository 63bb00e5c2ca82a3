import * as contract from '@hedgerow/contract'
import type { Incident } from '@hedgerow/contract'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { reviewsAfter } from './gateway-reviews.ts'
import { storeDetections, type PicturedDetection } from './detections.ts'

const DAY_MS = 86_400_000
const JPEG = Buffer.from('/9j/AAAA', 'base64')

describe.each(testEngines)('incidents on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  let gateway: string
  let start: number
  beforeEach(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    token = await hub.signIn('admin')
    gateway = await insertTestGateway(hub.db, { name: 'Barn' })
    start = hub.clock.now() - DAY_MS
  })
  afterEach(() => hub.stop())

  const seen = (
    id: string,
    atSeconds: number,
    change: Partial<PicturedDetection> & { until?: number } = {},
  ): PicturedDetection => {
    const { until, ...rest } = change
    const moment = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
    return {
      id,
      camera: 'orchard',
      label: 'boar',
      severity: 'detection',
      score: 0.5,
      startedAt: moment(atSeconds),
      ...(until !== undefined && { endedAt: moment(until) }),
      ...rest,
    }
  }
  const report = (...detections: PicturedDetection[]) => storeDetections(hub.db, gateway, detections, hub.clock.now())
  const list = async (query: Record<string, unknown> = {}): Promise<Incident[]> =>
    (await api(contract.listIncidents, { token, query })).body as Incident[]
  const threats = async () => (await list({ severity: 'alert' })).length
  const camerasOfIncidents = () =>
    hub.db.selectFrom('incident_cameras').selectAll().orderBy('incident_id').orderBy('camera').execute()
  const camerasOfDetections = () =>
    hub.db
      .selectFrom('detections')
      .innerJoin('incidents', 'incidents.id', 'detections.incident_id')
      .select(['incidents.id as incident_id', 'detections.camera', 'incidents.gateway_id', 'incidents.started_at'])
      .distinct()
      .orderBy('incidents.id')
      .orderBy('detections.camera')
      .execute()
  const reviewed = (ids: string[], verdict: string | null, label?: string) =>
    api(contract.reviewIncidents, { token, body: { ids, verdict, ...(label && { label }) } })

  it('have ids that begin with the time, so that new rows are neighbours in every index', async () => {
    await report(seen('a', 0), seen('b', 0, { label: 'fox' }), seen('c', 3_600))
    const incidents = await list()
    for (const { id, startedAt } of incidents)
      expect(Buffer.from(id, 'base64url').readUIntBE(0, 6)).toBe(Date.parse(startedAt))
    expect(new Set(incidents.map(({ id }) => id)).size).toBe(3)
  })

  it('hold detections of one gateway and label that are less than 45 s apart, over cameras and batches', async () => {
    await report(seen('a', 0, { until: 10 }), seen('b', 54, { camera: 'gate' }))
    await report(seen('c', 98))
    await report(seen('d', 98, { label: 'deer' }), seen('e', 143))
    const other = await insertTestGateway(hub.db, { name: 'Mill' })
    await storeDetections(hub.db, other, [seen('a', 100)], hub.clock.now())
    expect((await list()).map(({ gatewayName, label, detections }) => [gatewayName, label, detections])).toEqual([
      ['Barn', 'boar', 1],
      ['Mill', 'boar', 1],
      ['Barn', 'deer', 1],
      ['Barn', 'boar', 3],
    ])
  })

  it('become one when a late detection lies between them, or when one lasts until the next', async () => {
    await report(seen('a', 0), seen('c', 80), seen('x', 300, { label: 'fox' }), seen('y', 400, { label: 'fox' }))
    expect(await list()).toHaveLength(4)
    await report(seen('b', 40), seen('x', 300, { label: 'fox', until: 360 }))
    expect((await list()).map(({ label, detections }) => [label, detections])).toEqual([
      ['fox', 2],
      ['boar', 3],
    ])
    const [fox] = await list()
    const one = (await api(contract.readIncident, { token, params: { id: fox!.id } })).body as {
      list: { id: string }[]
    }
    expect(one.list.map(({ id }) => id)).toEqual(['x', 'y'])
  })

  it('show the picture of the highest score, the highest severity and whether a deterrent was fired', async () => {
    await report(seen('a', 0, { score: 0.9 }), seen('b', 1, { score: 0.6, jpeg: JPEG, camera: 'gate' }))
    expect(await list()).toMatchObject([
      { coverId: 'b', camera: 'gate', score: 0.6, severity: 'detection', isFired: false },
    ])
    await report(seen('c', 2, { score: 0.7, jpeg: JPEG, severity: 'alert', deterrent: 'sprinkler' }))
    expect(await list()).toMatchObject([{ coverId: 'c', severity: 'alert', isFired: true, detections: 3 }])
  })

  it('move with a detection whose label changes', async () => {
    await report(seen('a', 0), seen('b', 5))
    await report(seen('a', 0, { label: 'person' }))
    expect((await list()).map(({ label, detections }) => [label, detections])).toEqual([
      ['boar', 1],
      ['person', 1],
    ])
    await report(seen('b', 5, { label: 'person' }))
    expect((await list()).map(({ label, detections }) => [label, detections])).toEqual([['person', 2]])
  })

  it('are found by each camera that saw them, in pages and by time, also when a detection moves', async () => {
    await report(seen('a', 0, { score: 0.9, jpeg: JPEG }), seen('b', 10, { camera: 'gate' }), seen('c', 100))
    const startsAt = async (query: Record<string, unknown>) =>
      (await list(query)).map(({ startedAt }) => (Date.parse(startedAt) - start) / 1_000)
    expect(await startsAt({ gateway, camera: 'orchard' })).toEqual([100, 0])
    expect(await startsAt({ gateway, camera: 'gate' })).toEqual([0])
    expect(await startsAt({ camera: 'gate' })).toEqual([0])
    const moment = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
    expect(await startsAt({ gateway, camera: 'orchard', to: moment(50) })).toEqual([0])
    const first = await api(contract.listIncidents, { token, query: { gateway, camera: 'orchard', limit: 1 } })
    const cursor = first.headers[contract.NEXT_CURSOR_HEADER] as string
    expect(await startsAt({ gateway, camera: 'orchard', limit: 1, cursor })).toEqual([0])
    await report(seen('b', 10, { camera: 'yard' }))
    expect(await startsAt({ gateway, camera: 'gate' })).toEqual([])
    expect(await startsAt({ gateway, camera: 'yard' })).toEqual([0])
    await report(seen('earlier', -30))
    expect(await startsAt({ gateway, camera: 'yard' })).toEqual([-30])
    expect(await camerasOfIncidents()).toEqual(await camerasOfDetections())
  })

  it('are the same whatever the order and the batches in which detections arrive, and however often', async () => {
    const detection = fc.record({
      at: fc.integer({ min: 0, max: 600 }),
      lasts: fc.integer({ min: 0, max: 60 }),
      label: fc.constantFrom('boar', 'deer'),
      camera: fc.constantFrom('orchard', 'gate'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(detection, { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        async (all, draws) => {
          const id = await insertTestGateway(hub.db)
          const detections = all.map(({ at, lasts, label, camera }, i) =>
            seen(`d${i}`, at, { label, camera, until: at + lasts }),
          )
          const shuffled = detections
            .map((one) => [draws.next().value, one] as const)
            .toSorted(([a], [b]) => a - b)
            .map(([, one]) => one)
          while (shuffled.length > 0)
            await storeDetections(hub.db, id, shuffled.splice(0, 1 + (draws.next().value % 4)), hub.clock.now())
          await storeDetections(hub.db, id, detections.slice(0, 2), hub.clock.now())
          const found = (await list({ gateway: id, limit: 100 })).map(
            ({ label, startedAt, lastAt, detections: count }) => ({
              label,
              from: (Date.parse(startedAt) - start) / 1_000,
              to: (Date.parse(lastAt) - start) / 1_000,
              count,
            }),
          )
          expect(found.toSorted(byLabelAndTime)).toEqual(clusters(all))
          expect(await camerasOfIncidents()).toEqual(await camerasOfDetections())
        },
      ),
      { numRuns: 25 },
    )
  })

  it('end with their last detection, and agree with the detections that are left', async () => {
    await report(seen('old', 0), seen('a', 500, { score: 0.9, jpeg: JPEG }), seen('b', 520, { score: 0.4, jpeg: JPEG }))
    await api(contract.editHubSettings, { token, body: { detectionsKept: 1 } })
    await hub.retention.trim()
    expect(await list()).toMatchObject([{ detections: 1, coverId: 'b', score: 0.4 }])
    expect(await camerasOfIncidents()).toEqual(await camerasOfDetections())
    await hub.retention.deleteRowsOf(gateway)
    expect(await hub.db.selectFrom('incidents').selectAll().execute()).toEqual([])
    expect(await camerasOfIncidents()).toEqual([])
  })

  it('come in pages without repeats or gaps, and are filtered by the query', async () => {
    const mill = await insertTestGateway(hub.db, { name: 'Mill', location: 'Valley', tags: '["north","öst_2"]' })
    for (let i = 0; i < 25; i++)
      await report(
        seen(`a${i}`, i * 100, { label: i % 5 === 0 ? 'deer' : 'boar', severity: i % 2 ? 'alert' : 'detection' }),
      )
    await storeDetections(hub.db, mill, [seen('m', 50, { camera: 'gate', deterrent: 'siren' })], hub.clock.now())
    const ids: string[] = []
    let cursor: string | undefined
    do {
      const page = await api(contract.listIncidents, { token, query: { limit: 7, ...(cursor && { cursor }) } })
      ids.push(...(page.body as Incident[]).map(({ id }) => id))
      cursor = page.headers[contract.NEXT_CURSOR_HEADER] as string | undefined
    } while (cursor)
    expect(ids).toEqual((await list({ limit: 100 })).map(({ id }) => id))
    expect(ids).toHaveLength(26)
    const neighbours = async (id: string, query: Record<string, unknown> = {}) =>
      (await api(contract.readNeighbours, { token, params: { id }, query })).body
    for (const [at, id] of ids.entries())
      expect(await neighbours(id)).toEqual({ newer: ids[at - 1] ?? null, older: ids[at + 1] ?? null })
    const [middle] = await list({ gateway: mill })
    const deer = (await list({ label: 'deer', gateway })).map(({ id }) => id)
    const between = { newer: deer.at(-2), older: deer.at(-1) }
    expect(await neighbours(middle!.id, { label: 'deer' }), 'of one outside the filter').toEqual(between)
    expect(await neighbours(middle!.id, { gateway, camera: 'orchard' })).toEqual({
      newer: ids.at(-3),
      older: ids.at(-1),
    })
    const count = async (query: Record<string, unknown>) => (await list({ limit: 100, ...query })).length
    expect(await count({ label: 'deer' })).toBe(5)
    expect(await count({ label: 'deer,boar' })).toBe(26)
    expect(await count({ label: 'animal' }), 'any animal').toBe(26)
    expect(await count({ label: 'person' })).toBe(0)
    expect(await count({ severity: 'alert', gateway })).toBe(12)
    expect(await count({ site: 'Valley' })).toBe(1)
    expect(await count({ tag: 'ÖST_2' })).toBe(1)
    expect(await count({ tag: 'öst-2' })).toBe(0)
    expect(await count({ tag: 'nort' })).toBe(0)
    expect(await count({ gateway: mill, camera: 'gate' })).toBe(1)
    expect(await count({ gateway: mill, camera: 'orchard' })).toBe(0)
    expect(await count({ fired: 'yes' })).toBe(1)
    const moment = (seconds: number) => new Date(start + seconds * 1_000).toISOString()
    expect(await count({ from: moment(100), to: moment(300) })).toBe(2)
    const counts = (await api(contract.countIncidents, { token, query: { gateway, label: 'deer' } })).body
    expect(counts).toEqual({
      isWhole: true,
      hidden: 0,
      doubtful: 0,
      groups: expect.arrayContaining([
        { label: 'boar', severity: 'alert', review: 'none', isFired: false, count: 10 },
        { label: 'deer', severity: 'detection', review: 'none', isFired: false, count: 3 },
      ]),
    })
    const ofMill = (await api(contract.countIncidents, { token, query: { gateway: mill, fired: 'yes' } })).body
    expect(ofMill).toMatchObject({ groups: [{ label: 'boar', isFired: true, count: 1 }] })
    for (let number = 0; number < 40; number += 1) await insertTestGateway(hub.db, { location: 'Valley' })
    expect(await count({ site: 'Valley' })).toBe(1)
    expect((await api(contract.countIncidents, { token, query: { site: 'Valley' } })).body).toEqual(ofMill)
  })

  it('are reviewed one by one or many at once; reviews can be withdrawn, and the audit names the person', async () => {
    await report(seen('a', 0), seen('b', 5), seen('c', 500))
    const [late, early] = await list()
    expect((await reviewed([early!.id], 'wrong', 'branch')).body).toMatchObject([
      { id: early!.id, verdict: null, label: null },
    ])
    expect(await list({ review: 'wrong' })).toMatchObject([
      { id: early!.id, label: 'branch', reportedLabel: 'boar', review: { verdict: 'wrong', by: 'the-admin' } },
    ])
    const both = await reviewed([early!.id, late!.id], 'right')
    expect(both.body).toEqual(
      expect.arrayContaining([
        { id: early!.id, verdict: 'wrong', label: 'branch', reviewId: expect.any(String) },
        { id: late!.id, verdict: null, label: null, reviewId: expect.any(String) },
      ]),
    )
    expect(await list({ review: 'right' })).toHaveLength(2)
    await reviewed([late!.id], null)
    expect(await list({ review: 'none' })).toMatchObject([{ id: late!.id, review: null }])
    const told = await reviewsAfter(hub.db, gateway, 0)
    expect(told.map(({ detection, verdict, label }) => [detection, verdict, label])).toEqual([
      ['a', 'right', null],
      ['b', 'right', null],
      ['c', null, null],
    ])
    const audit = hub.db.selectFrom('audit').select(['actor', 'target']).where('action', '=', 'incident.review')
    expect(await audit.execute()).toHaveLength(4)
  })

  it('are reviewed all or none, and only a wrong one takes a label', async () => {
    await report(seen('a', 0))
    const [only] = await list()
    expect(await reviewed([only!.id, 'nobody'], 'wrong')).toMatchObject({
      status: 404,
      body: { error: 'incident_not_found' },
    })
    expect((await list())[0]).toMatchObject({ review: null })
    expect(await reviewed([only!.id], 'right', 'branch')).toMatchObject({ status: 400 })
  })

  it('are unreviewed again when a detection joins them after their review', async () => {
    await report(seen('a', 0))
    const [only] = await list()
    await reviewed([only!.id], 'wrong', 'branch')
    await report(seen('a', 0, { until: 3 }))
    expect(await list()).toMatchObject([{ label: 'branch', review: { verdict: 'wrong' } }])
    await report(seen('b', 30))
    expect(await list()).toMatchObject([{ label: 'boar', review: null, detections: 2 }])
  })

  it('that gateways hold back are no threats and notify nobody; they show on request or if called right', async () => {
    await report(seen('a', 0, { severity: 'alert', suppressed: true }), seen('b', 10, { severity: 'alert' }))
    await report(seen('c', 20, { suppressed: true }), seen('d', 400, { severity: 'alert', suppressed: true }))
    const counts = async () => (await api(contract.countIncidents, { token, query: {} })).body as { hidden: number }
    expect(await list()).toMatchObject([{ detections: 1, coverId: null, isSuppressed: false }])
    expect(await list({ learning: 'hidden' })).toMatchObject([
      { detections: 1, isSuppressed: true },
      { detections: 2, isSuppressed: true },
    ])
    expect(await counts()).toMatchObject({ hidden: 2, groups: [{ count: 1 }] })
    expect(await threats()).toBe(1)
    // The gateway looked again and shows it; a detection that was shown once stays shown.
    await report(seen('d', 400, { severity: 'alert', suppressed: false }))
    await report(seen('d', 400, { severity: 'alert', suppressed: true }))
    expect(await threats()).toBe(2)
    expect((await list()).map(({ detections }) => detections)).toEqual([1, 1])
    const [hidden] = await list({ learning: 'hidden' })
    await reviewed([hidden!.id], 'wrong')
    expect(await counts()).toMatchObject({ hidden: 1 })
    await reviewed([hidden!.id], 'right')
    expect(await counts()).toMatchObject({ hidden: 0 })
    expect(await list({ review: 'right' })).toMatchObject([{ id: hidden!.id, detections: 2, isSuppressed: false }])
  })

  it('that gateways doubt are listed as doubtful until somebody reviews them', async () => {
    await report(seen('a', 0), seen('b', 500))
    const [, first] = await list()
    await reviewed([first!.id], 'right')
    await report(seen('a', 0, { doubtful: true }))
    expect(await list({ learning: 'doubtful' })).toMatchObject([{ id: first!.id, isDoubtful: true }])
    await reviewed([first!.id], 'right')
    expect(await list({ learning: 'doubtful' })).toEqual([])
    expect(await list()).toHaveLength(2)
  })

  it('are seen and reviewed by managers, and by its owner', async () => {
    await report(seen('a', 0))
    const [only] = await list()
    const user = await hub.signIn('user')
    const path = { token: user, params: { id: only!.id } }
    const body = { ids: [only!.id], verdict: 'right' }
    expect((await api(contract.listIncidents, { token: user, query: {} })).body).toEqual([])
    expect((await api(contract.countIncidents, { token: user, query: {} })).body).toMatchObject({
      isWhole: true,
      groups: [],
    })
    expect(await api(contract.readIncident, path)).toMatchObject({ status: 404 })
    expect(await api(contract.readNeighbours, { ...path, query: {} })).toMatchObject({ status: 404 })
    expect(await api(contract.reviewIncidents, { token: user, body })).toMatchObject({ status: 404 })
    const { id: ownerId } = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-user')
      .executeTakeFirstOrThrow()
    await hub.db.updateTable('gateways').set(ownedBy(ownerId)).where('id', '=', gateway).execute()
    expect((await api(contract.listIncidents, { token: user, query: {} })).body).toHaveLength(1)
    expect(await api(contract.readIncident, path)).toMatchObject({ status: 200 })
    expect(await api(contract.reviewIncidents, { token: user, body })).toMatchObject({ status: 200 })
  })
})

type Sample = { at: number; lasts: number; label: string }
type Cluster = { label: string; from: number; to: number; count: number }

/** The definition, written plainly: gaps of 45 s and more separate incidents. */
function clusters(all: readonly Sample[]): Cluster[] {
  const found: Cluster[] = []
  for (const { at, lasts, label } of all.toSorted((a, b) => a.at - b.at)) {
    const open = found.findLast((cluster) => cluster.label === label)
    if (open && at - open.to < 45) {
      open.to = Math.max(open.to, at + lasts)
      open.count += 1
    } else found.push({ label, from: at, to: at + lasts, count: 1 })
  }
  return found.toSorted(byLabelAndTime)
}

function byLabelAndTime(a: Cluster, b: Cluster): number {
  return a.label.localeCompare(b.label) || a.from - b.from
}
