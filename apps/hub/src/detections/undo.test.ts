import * as contract from '@hedgerow/contract'
import type { Incident } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { ownedBy } from '../access/ownership.ts'
import { createRetention } from '../retention/retention.ts'
import { storeDetections, type PicturedDetection } from './detections.ts'
import { reviewsAfter } from './gateway-reviews.ts'

const DAY_MS = 86_400_000

describe.each(testEngines)('a review that is undone, on %s', (engine) => {
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

  const seen = (id: string, atSeconds: number, marks: Partial<PicturedDetection> = {}): PicturedDetection => ({
    id,
    camera: 'orchard',
    label: 'boar',
    severity: 'alert',
    score: 0.5,
    startedAt: new Date(start + atSeconds * 1_000).toISOString(),
    ...marks,
  })
  const report = (...detections: PicturedDetection[]) => storeDetections(hub.db, gateway, detections, hub.clock.now())
  const list = async (query: Record<string, unknown> = {}) =>
    (await api(contract.listIncidents, { token, query })).body as Incident[]
  const read = async (id: string) => (await api(contract.readIncident, { token, params: { id } })).body
  const say = async (ids: string[], verdict: 'right' | 'wrong' | null, { label = '', as = token } = {}) => {
    hub.clock.advance(1_000)
    const body = { ids, verdict, ...(label && { label }) }
    const said = (await api(contract.reviewIncidents, { token: as, body })).body as { reviewId: string }[]
    return said.map(({ reviewId }) => reviewId)
  }
  const undo = (reviewIds: string[], as = token) => api(contract.undoReviews, { token: as, body: { reviewIds } })
  /** What the gateway knows, as it asks for what is new only. */
  const told = new Map<string, unknown>()
  let asked: number
  beforeEach(() => {
    told.clear()
    asked = 0
  })
  const ask = async () => {
    for (const { seq, detection, verdict, label } of await reviewsAfter(hub.db, gateway, asked)) {
      told.set(detection, label ?? verdict)
      asked = seq
    }
    return Object.fromEntries(told)
  }

  it('brings back what learning held back or asked about, with its earlier reviewer, also to the gateway', async () => {
    await report(seen('held', 0, { suppressed: true }), seen('held-too', 10, { suppressed: true }))
    await report(seen('asked', 500), seen('sure', 510), seen('plain', 1_000))
    const [plain, doubtful] = await list()
    await say([doubtful!.id], 'wrong', { label: 'branch', as: await hub.signIn('manager') })
    await report(seen('asked', 500, { doubtful: true }))
    const [held] = await list({ learning: 'hidden' })
    const ids = [held!.id, doubtful!.id, plain!.id]
    const before = await Promise.all(ids.map(read))
    expect(before).toMatchObject([
      { isSuppressed: true, list: [{ suppressed: true }, { suppressed: true }], review: null },
      { isDoubtful: true, list: [{ doubtful: true }, {}], review: { by: 'the-manager' }, label: 'branch' },
      { review: null },
    ])
    const reviews = await say(ids, 'right')
    expect(await list({ learning: 'hidden' })).toEqual([])
    expect(await list({ learning: 'doubtful' })).toEqual([])
    const again = await say([held!.id], 'wrong')
    expect(await ask()).toMatchObject({ held: 'wrong', asked: 'right', sure: 'right', plain: 'right' })

    expect((await undo(again)).body).toEqual({ incidentIds: [held!.id] })
    expect(await list({ review: 'right' })).toHaveLength(3)
    expect((await undo(reviews)).body).toEqual({ incidentIds: expect.toSatisfy((said) => said.length === 3) })
    expect(await Promise.all(ids.map(read))).toEqual(before)
    expect(await list({ learning: 'hidden' })).toHaveLength(1)
    expect(await ask()).toEqual({ held: null, 'held-too': null, asked: 'branch', sure: 'branch', plain: null })
    const actions = await hub.db.selectFrom('audit').select('action').where('target', '=', held!.id).execute()
    expect(actions.map(({ action }) => action)).toEqual([
      'incident.review',
      'incident.review',
      'incident.undo-review',
      'incident.undo-review',
    ])
  })

  it('leaves an incident that somebody reviewed again, and one that grew is unreviewed', async () => {
    await report(seen('a', 0), seen('b', 500))
    const [b, a] = await list()
    await say([a!.id, b!.id], 'right')
    const reviews = await say([a!.id, b!.id], 'wrong')
    await say([a!.id], 'right', { as: await hub.signIn('manager') })
    await report(seen('c', 510))
    expect((await undo(reviews)).body).toEqual({ incidentIds: [b!.id] })
    expect(await list()).toMatchObject([
      { id: b!.id, review: null, detections: 2 },
      { id: a!.id, review: { verdict: 'right', by: 'the-manager' } },
    ])
    expect(await ask()).toEqual({ a: 'right', b: 'right' })
  })

  it("is the caller's own, once, for seven days, while they see the gateway", async () => {
    await report(seen('a', 0))
    const [only] = await list()
    const ids = [only!.id]
    const first = await say(ids, 'wrong')
    const missing = { status: 404, body: { error: 'review_not_found' } }
    expect(await undo(first, await hub.signIn('manager'))).toMatchObject(missing)
    expect(await undo([...first, 'nobody'])).toMatchObject(missing)
    expect(await list({ review: 'wrong' })).toHaveLength(1)
    expect(await undo(first)).toMatchObject({ status: 200 })
    expect(await undo(first)).toMatchObject(missing)

    const user = await hub.signIn('user')
    const { id: ownerId } = await hub.db
      .selectFrom('users')
      .select('id')
      .where('username', '=', 'the-user')
      .executeTakeFirstOrThrow()
    const giveTo = (owner: string | null) =>
      hub.db.updateTable('gateways').set(ownedBy(owner)).where('id', '=', gateway).execute()
    await giveTo(ownerId)
    const theirs = await say(ids, 'wrong', { as: user })
    await giveTo(null)
    expect((await undo(theirs, user)).body).toEqual({ incidentIds: [] })
    expect(await list({ review: 'wrong' })).toHaveLength(1)

    const late = await say(ids, 'right')
    await hub.db
      .updateTable('former_reviews')
      .set((row) => ({ at: row('at', '-', 7 * DAY_MS) }))
      .execute()
    const retention = createRetention({ db: hub.db, clock: hub.clock.now, log: pino({ level: 'silent' }) })
    await retention.purge()
    await retention.stop()
    expect(await undo(late)).toMatchObject(missing)
    expect(await hub.db.selectFrom('former_detections').selectAll().execute()).toEqual([])
  })
})
