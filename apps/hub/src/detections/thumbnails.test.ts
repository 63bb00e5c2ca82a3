import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { thumbnailName } from '@hedgerow/contract'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { createTestDatabase, testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { openDatabase } from '../database/database.ts'
import { MIGRATIONS } from '../database/migrations.ts'

const BOAR = readFileSync(join(import.meta.dirname, '../../../../scripts/demo-frames/boar.jpg'))
const DETECTIONS = '/api/v1/gateway/detections'

describe.each(testEngines)('detections with pictures and details on %s', (engine) => {
  it('come back as they were sent, the picture as a JPEG that browsers cache', async () => {
    const hub = await startTestHub(engine)
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const { gatewayId, peer } = await joinedGateway(hub, headers)
    const startedAt = new Date(hub.clock.now()).toISOString()
    const seen = { camera: 'orchard', label: 'boar', severity: 'alert', score: 0.9, startedAt }
    const details = {
      source: 'eye',
      zone: 'rows – größer 🐗',
      box: { x: 0.1, y: 0.2, width: 0.3, height: 0.4 },
      verdicts: [{ stage: 'detector', by: 'yolox-tiny', outcome: 'unsure', score: 0.9, ms: 48 }],
      firings: [{ id: 'f1', deterrent: 'sprinkler', at: startedAt, seconds: 10, outcome: 'fired' }],
    }
    const send = (...detections: object[]) => peer.post(DETECTIONS, { detections })
    const thumbnail = BOAR.toString('base64')
    expect((await send({ ...seen, id: 'd1', ...details, thumbnail })).body).toEqual({ accepted: 1 })
    // An update keeps fields that it leaves out; each detail replaces the former one.
    expect((await send({ ...seen, id: 'd1', zone: 'gate' })).body).toEqual({ accepted: 1 })
    const fake = Buffer.concat([BOAR.subarray(0, 3), Buffer.from('<script>alert(1)</script>')]).toString('base64')
    expect((await send({ ...seen, id: 'd2', thumbnail: fake })).body).toEqual({ accepted: 1, withoutPicture: ['d2'] })

    const get = (path: string, more: Record<string, string> = {}) =>
      hub.app.inject({ url: `/api/v1/hub/gateways/${gatewayId}/detections${path}`, headers: { ...headers, ...more } })
    const listed = (await get('')).json<{ id: string }[]>().toSorted((a, b) => (a.id < b.id ? -1 : 1))
    expect(listed).toMatchObject([
      { id: 'd1', ...details, zone: 'gate', hasThumbnail: true },
      { id: 'd2', hasThumbnail: false },
    ])
    const picture = await get('/d1/thumbnail')
    expect(picture.headers).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-cache',
      etag: expect.stringMatching(/^"[\w-]{22}"$/),
    })
    expect((await sharp(picture.rawPayload).metadata()).format).toBe('jpeg')
    const again = await get('/d1/thumbnail', { 'if-none-match': String(picture.headers.etag) })
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0])
    expect((await get('/d2/thumbnail')).json()).toMatchObject({ error: 'detection_not_found' })

    // Several at once: one without a picture, one of an unknown gateway, and the same for somebody who sees none.
    const read = (names: string[], authorization = headers.authorization) =>
      hub.app.inject({ url: '/api/v1/hub/thumbnails', query: { of: names.join(',') }, headers: { authorization } })
    const names = [thumbnailName(gatewayId, 'd1'), thumbnailName(gatewayId, 'd2'), thumbnailName('a'.repeat(12), 'd1')]
    const jpeg = picture.rawPayload.toString('base64')
    expect((await read(names)).json()).toEqual([{ gatewayId, id: 'd1', jpeg }])
    expect((await read(names, `Bearer ${await hub.signIn('user')}`)).json()).toEqual([])
    const odd = 'a,b/c 100% größer'
    await send({ ...seen, id: odd, thumbnail })
    expect((await read([thumbnailName(gatewayId, odd)])).json()).toMatchObject([{ gatewayId, id: odd }])
    const bad = ['', 'd1', `${gatewayId}/`, `${gatewayId}/d1/d2`, `${gatewayId}/%`, 'x/d1', '__proto__/d1']
    for (const name of [...bad, names.join(',').repeat(11)]) expect((await read([name])).statusCode, name).toBe(400)

    const totals = await hub.db.selectFrom('detection_totals').selectAll().executeTakeFirstOrThrow()
    await hub.retention.deleteRowsOf(gatewayId)
    expect(totals).toMatchObject({ detections: 3 })
    expect(totals.bytes).toBeGreaterThan(1_000 + picture.rawPayload.length)
    expect(await hub.db.selectFrom('thumbnails').select('detection_id').execute()).toEqual([])
    await peer.stop()
    await hub.stop()
  })

  it('of an older hub are carried over while the hub runs; a thumbnail that is no picture is deleted', async () => {
    const { url, remove } = await createTestDatabase(engine, { isEmpty: true })
    const before = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === '010-thumbnails'),
    )
    const old = await openDatabase({ url, migrations: before })
    // Without the facts of today's hub.
    const gatewayId = await old.db.transaction().execute((transaction) => insertTestGateway(transaction))
    const count = 50
    const row = (index: number) => ({
      gateway_id: gatewayId,
      id: `d${index}`,
      camera: 'orchard',
      label: 'boar',
      severity: 'alert',
      score: 0.9,
      started_at: Date.now() - index * 1_000,
      received_at: Date.now(),
      thumbnail: index % 5 === 4 ? null : index % 5 === 3 ? '/9j/AAAA' : BOAR.toString('base64'),
    })
    const rows = Array.from({ length: count }, (_, index) => row(index))
    await old.db
      .insertInto('detections')
      .values(rows as never)
      .execute()
    const bytes = rows.reduce((sum, { thumbnail }) => sum + 500 + (thumbnail?.length ?? 0), 0)
    await old.db.insertInto('detection_totals').values({ gateway_id: gatewayId, detections: count, bytes }).execute()
    await old.close()

    const hub = await startTestHub(engine, { databaseUrl: url })
    const left = () => hub.db.selectFrom('detections').select('id').where('thumbnail', 'is not', null).execute()
    await expect.poll(left).toEqual([])
    const pictures = await hub.db.selectFrom('thumbnails').selectAll().execute()
    expect(pictures).toHaveLength(30)
    const held = await hub.db.selectFrom('detections').select('thumbnail_bytes').execute()
    const stored = held.reduce((sum, { thumbnail_bytes: size }) => sum + (size ?? 0), 0)
    expect(stored).toBe(pictures.reduce((sum, { jpeg }) => sum + jpeg.length, 0))
    const totals = await hub.db.selectFrom('detection_totals').selectAll().executeTakeFirstOrThrow()
    expect(totals).toEqual({ gateway_id: gatewayId, detections: count, bytes: count * 500 + stored })
    await hub.stop()
    await remove()
  })
})
