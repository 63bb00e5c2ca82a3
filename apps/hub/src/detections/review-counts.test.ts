import * as contract from '@hedgerow/contract'
import type { Incident, ReviewCounts, SavedView } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { storeDetections } from './detections.ts'

const DAY_MS = 86_400_000

describe.each(testEngines)('what people said, on %s', (engine) => {
  let hub: TestHub
  let api: ReturnType<typeof createTestApi>
  let token: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    api = createTestApi(hub)
    token = await hub.signIn('admin')
  })
  afterEach(() => hub.stop())

  it('is counted by camera and day, also after the detection is gone, and told with who said it', async () => {
    const id = await insertTestGateway(hub.db)
    const now = new Date(hub.clock.now()).setHours(12, 0, 0, 0)
    hub.clock.advance(now - hub.clock.now())
    hub.clock.freeze()
    token = await hub.signIn('manager')
    const seen = (detection: string, daysAgo: number, camera: string, minute: number) => ({
      id: detection,
      camera,
      label: 'boar',
      severity: 'alert' as const,
      score: 0.9,
      startedAt: new Date(hub.clock.now() - daysAgo * DAY_MS - minute * 60_000).toISOString(),
    })
    const all = [
      seen('a', 0, 'yard', 1),
      seen('b', 0, 'yard', 5),
      seen('c', 3, 'orchard', 1),
      seen('d', 40, 'orchard', 1),
      seen('never', 1, 'yard', 1),
    ]
    await storeDetections(hub.db, id, all, hub.clock.now())
    const incidents = (await api(contract.listIncidents, { token, query: { limit: 10 } })).body as Incident[]
    expect(incidents.map(({ camera }) => camera)).toEqual(['yard', 'yard', 'yard', 'orchard', 'orchard'])
    const [a, b, , c, d] = incidents.map((one) => one.id)
    const say = (ids: unknown[], verdict: string | null, label?: string) =>
      api(contract.reviewIncidents, { token, body: { ids, verdict, ...(label && { label }) } })
    await say([a, d], 'right')
    await say([c], 'wrong', 'branch')
    await say([b], 'wrong')
    await say([b], null)
    const params = { id }
    const read = async () => (await api(contract.readReviewCounts, { token, params })).body as ReviewCounts
    const none = Array.from({ length: 30 }, () => 0)
    const expected = [
      { camera: 'orchard', right: none, wrong: none.with(26, 1) },
      { camera: 'yard', right: none.with(29, 1), wrong: none },
    ]
    const counts = await read()
    expect(counts.cameras).toEqual(expected)
    expect(counts.days).toHaveLength(30)
    expect(counts.latest).toHaveLength(3)
    expect(counts.latest).toContainEqual({
      incidentId: c,
      verdict: 'wrong',
      reportedLabel: 'boar',
      label: 'branch',
      camera: 'orchard',
      by: 'the-manager',
      at: new Date(hub.clock.now()).toISOString(),
    })
    await hub.db.deleteFrom('detections').execute()
    expect((await read()).cameras).toEqual(expected)
    const stranger = await hub.signIn('user')
    expect((await api(contract.readReviewCounts, { token: stranger, params })).status).toBe(404)
  })

  it('saved views are of one person, replaced by name, at most 50', async () => {
    const save = (name: string, filter: string, as = token) =>
      api(contract.saveView, { token: as, body: { name, filter } })
    const list = async (as = token) => (await api(contract.listSavedViews, { token: as })).body as SavedView[]
    await save('Boars', 'label=boar')
    await save('Boars', 'label=boar&review=none')
    const other = await hub.signIn('user')
    await save('Mine', 'fired=yes', other)
    const [view] = await list()
    expect(await list()).toEqual([{ id: view!.id, name: 'Boars', filter: 'label=boar&review=none' }])
    await api(contract.deleteSavedView, { token: other, params: { id: view!.id } })
    expect(await list(), 'another person deletes none').toHaveLength(1)
    expect((await save('Bad', '<script>')).status).toBe(400)
    for (let i = 1; i < 50; i++) await save(`View ${i}`, `q=${i}`)
    expect((await save('One more', 'x=1')).body).toMatchObject({ error: 'too_many_saved_views' })
    expect((await save('View 7', 'label=fox')).status).toBe(200)
    await api(contract.deleteSavedView, { token, params: { id: view!.id } })
    expect(await list()).toHaveLength(49)
  })
})
