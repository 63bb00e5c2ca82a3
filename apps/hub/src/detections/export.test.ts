import * as contract from '@hedgerow/contract'
import type { Incident, Role } from '@hedgerow/contract'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { testEngines } from '#testing/databases.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { noiseJpeg } from '#testing/jpeg.ts'
import { storeDetections } from './detections.ts'
import { createExports, type Exports } from './export.ts'

/** The files of a ZIP without compression, by its central directory (APPNOTE.TXT §4.3). */
function unzip(zip: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const end = zip.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  let at = zip.readUInt32LE(end + 16)
  while (zip.readUInt32LE(at) === 0x02014b50) {
    const [size, nameLength, extraLength] = [
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
    ]
    const local = zip.readUInt32LE(at + 42)
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    files.set(zip.toString('utf8', at + 46, at + 46 + nameLength), zip.subarray(start, start + size))
    at += 46 + nameLength + extraLength + zip.readUInt16LE(at + 32)
  }
  return files
}

describe.each(testEngines)('an export on %s', (engine) => {
  let hub: TestHub
  let token: string
  beforeEach(async () => {
    hub = await startTestHub(engine)
    token = await hub.signIn('admin')
  })
  afterEach(() => hub.stop())

  it('has the pictures, the table and COCO JSON of what the filter selects, and of nothing else', async () => {
    const id = await insertTestGateway(hub.db, { name: '=Barn, "old"', location: 'Valley' })
    const other = await insertTestGateway(hub.db, { name: 'Mill' })
    const jpeg = await noiseJpeg(64)
    const seen = (detection: string, minutesAgo: number, more = {}) => ({
      id: detection,
      camera: 'yard',
      label: 'boar',
      severity: 'alert' as const,
      score: 0.9,
      startedAt: new Date(hub.clock.now() - minutesAgo * 60_000).toISOString(),
      jpeg,
      ...more,
    })
    const box = { x: 0.25, y: 0.5, width: 0.5, height: 0.25 }
    const all = [
      seen('../a', 1, { box }),
      seen('b', 10, { jpeg: undefined }),
      seen('c', 20),
      seen('d', 30, { box, source: 'eye' }),
    ]
    await storeDetections(hub.db, id, all, hub.clock.now())
    await storeDetections(hub.db, other, [seen('x', 1)], hub.clock.now())
    const api = createTestApi(hub)
    const incidents = (await api(contract.listIncidents, { token, query: { gateway: id } })).body as Incident[]
    const say = (at: number, verdict: string, label?: string) =>
      api(contract.reviewIncidents, { token, body: { ids: [incidents[at]!.id], verdict, ...(label && { label }) } })
    await say(2, 'wrong')
    await say(3, 'wrong', 'fox')

    const answer = await hub.app.inject({
      url: `/api/v1/hub/incidents/export?gateway=${id}`,
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="threats.zip"',
    })
    const files = unzip(answer.rawPayload)
    const pictures = [`pictures/${id}/__a-1.jpg`, `pictures/${id}/c-3.jpg`, `pictures/${id}/d-4.jpg`]
    expect([...files.keys()]).toEqual([...pictures, 'detections.csv', 'coco.json'])
    for (const picture of pictures) expect(files.get(picture)).toEqual(jpeg)
    const lines = files.get('detections.csv')!.toString().split('\r\n')
    expect(lines).toHaveLength(6)
    expect(lines[1]).toContain(`"'=Barn, ""old""","Valley","yard","","boar","boar",0.9,"alert",`)
    expect(lines[4]).toContain(',"fox","boar",')
    const coco = JSON.parse(files.get('coco.json')!.toString())
    expect(coco.images).toMatchObject(pictures.map((file_name) => ({ file_name, width: 64, height: 64 })))
    expect(coco.categories).toEqual([
      { id: 1, name: 'boar' },
      { id: 2, name: 'fox' },
    ])
    expect(coco.annotations).toMatchObject([
      { image_id: 1, category_id: 1, bbox: [16, 32, 32, 16], area: 512, reviewed: false },
      { image_id: 3, category_id: 2, bbox: [0, 0, 64, 64], reviewed: true },
    ])
    expect(coco.info.description).toBe('All that the filter selects')
    expect(coco.info.boxes).toContain('or where the box is unknown: the whole picture.')

    const stranger = await hub.signIn('user')
    const theirs = await hub.app.inject({
      url: '/api/v1/hub/incidents/export',
      headers: { authorization: `Bearer ${stranger}` },
    })
    expect([...unzip(theirs.rawPayload).keys()]).toEqual(['detections.csv', 'coco.json'])
    const { body } = await api(contract.listAudit, { token, query: { action: 'incident.export' } })
    expect(body).toMatchObject([
      { actor: 'the-user', result: 'ok' },
      { actor: 'the-admin', result: 'ok' },
    ])
  })

  it('is one at a time for each person, and gives its place back when it ends', () => {
    const exports = createExports({ db: hub.db })
    const first = open(exports, 'a')
    expect(() => open(exports, 'a')).toThrow('export running')
    first.destroy()
    return expect.poll(() => open(exports, 'a').destroy()).toBeDefined()
  })

  it('leaves room for others: two from one source, and none of managers’ places', () => {
    const exports = createExports({ db: hub.db })
    const running = [open(exports, 'a', '192.0.2.1'), open(exports, 'b', '192.0.2.1')]
    expect(() => open(exports, 'c', '192.0.2.1')).toThrow('export running')
    running.push(open(exports, 'c', '2001:db8:0:1::1'), open(exports, 'd', '2001:db8:0:2::1'))
    expect(() => open(exports, 'e', '2001:db8:0:3::1'), 'one customer of IPv6').toThrow('export running')
    // All four places are taken: the source with two of them gives way.
    running.push(open(exports, 'e', '192.0.2.5'))
    expect(running[0]!.destroyed).toBe(true)
    running.push(open(exports, 'admin', '192.0.2.1', 'admin'))
    for (const one of running) one.destroy()
  })
})

const open = (exports: Exports, userId: string, sourceIp = '192.0.2.9', role: Role = 'user') =>
  exports.open(
    { actor: { userId, username: userId, role, sessionId: 's' }, sourceIp, now: 0 },
    { gateways: [], filter: {} },
  )
