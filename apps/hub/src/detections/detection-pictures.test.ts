import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import * as contract from '@hedgerow/contract'
import { GATEWAY_DOOR_PORT, GATEWAY_PORT } from '@hedgerow/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTestApi } from '#testing/api.ts'
import { ENROLLED, localDoor, serveDoor, type TestDoor } from '#testing/door.ts'
import { send } from '#testing/gateway-proxy.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { joinedGateway } from '#testing/joined-gateway.ts'
import { ownedBy } from '../access/ownership.ts'
import { createClipLinks } from './clip-links.ts'
import { createClips } from './clips.ts'
import { storeDetections } from './detections.ts'
import { createTurns } from './turns.ts'

const JPEG = Buffer.from('/9j/AAAA', 'base64')
const CLIP = Buffer.concat([Buffer.from('\0\0\0\u0018ftypisom'), Buffer.alloc(300_000, 7)])

/** Serves a file as a source does, with ranges. */
function serveClip({ headers }: IncomingMessage, response: ServerResponse): void {
  const range = /^bytes=(\d*)-(\d*)$/.exec(headers.range ?? '')
  const type = { 'content-type': 'text/html', 'accept-ranges': 'bytes', 'set-cookie': 'a=b' }
  if (!range) return void response.writeHead(200, { ...type, 'content-length': CLIP.length }).end(CLIP)
  const first = range[1] === '' ? CLIP.length - Number(range[2]) : Number(range[1])
  if (first >= CLIP.length) return void response.writeHead(416, { 'content-range': `bytes */${CLIP.length}` }).end()
  const last = range[1] === '' || range[2] === '' ? CLIP.length - 1 : Math.min(Number(range[2]), CLIP.length - 1)
  const told = { 'content-range': `bytes ${first}-${last}/${CLIP.length}`, 'content-length': last - first + 1 }
  response.writeHead(206, { ...type, ...told }).end(CLIP.subarray(first, last + 1))
}

describe('snapshots and clips of detections', () => {
  let hub: TestHub
  let door: TestDoor
  let gateway: Awaited<ReturnType<typeof joinedGateway>>
  let token: string
  let port: number
  let asked: string[]
  beforeAll(async () => {
    hub = await startTestHub('sqlite')
    ;({ port } = await hub.start())
    token = await hub.signIn('admin')
    gateway = await joinedGateway(hub, { authorization: `Bearer ${token}` }, 'Barn')
    door = serveDoor(gateway.peer)
    const seen = { camera: 'yard', label: 'boar', severity: 'alert', score: 1 } as const
    const startedAt = new Date(hub.clock.now()).toISOString()
    const detections = ['d/1', 'd2', 'd3'].map((id) => ({ id, ...seen, startedAt }))
    await storeDetections(hub.db, gateway.gatewayId, detections, hub.clock.now())
  })
  afterAll(async () => {
    await gateway.peer.stop()
    await hub.stop()
  })
  beforeEach(() => {
    asked = []
    door.onRequest = (incoming, response) => {
      asked.push(incoming.url ?? '')
      if (incoming.url?.endsWith('/clip.mp4')) serveClip(incoming, response)
      else response.writeHead(200, { 'content-type': 'text/html' }).end(JPEG)
    }
  })

  type Session = { id: string; userId: string; token: string }
  let people = 0
  async function startSession(): Promise<Session> {
    const userId = await hub.addUser(`person-${people++}`, 'user', 'the-password-of-this-one')
    const token = await hub.sessions.start({ id: userId }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    return { id: (await hub.sessions.authenticate(token)).sessionId, userId, token }
  }
  /** As another process would do it: nobody is told. */
  const own = (id: string, ownerId: string | null) =>
    hub.db.updateTable('gateways').set(ownedBy(ownerId)).where('id', '=', id).execute()

  const path = (what: string, id = 'd/1', of = gateway.gatewayId) =>
    `/api/v1/hub/gateways/${of}/detections/${encodeURIComponent(id)}/${what}`
  const get = (url: string, headers: Record<string, string> = {}, as: string | undefined = token) =>
    hub.app.inject({ url, headers: { ...headers, ...(as !== undefined && { authorization: `Bearer ${as}` }) } })
  const code = async (url: string, headers?: Record<string, string>, as?: string) =>
    (await get(url, headers, as)).json<{ error: string }>().error

  test('a snapshot is pulled once for all who look, and nothing but the JPEG reaches the browser', async () => {
    const answers = await Promise.all([get(path('snapshot')), get(path('snapshot')), get(path('snapshot'))])
    for (const answer of answers) {
      expect(answer.rawPayload).toEqual(JPEG)
      expect(answer.headers).toMatchObject({
        'content-type': 'image/jpeg',
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      })
    }
    expect(asked).toEqual(['/v1/detections/d%2F1/snapshot.jpg'])
  })

  test('a snapshot with the box drawn is asked for as such, and is another picture', async () => {
    for (const query of ['?boxed=true', '?boxed=false', ''])
      expect((await get(`${path('snapshot', 'd2')}${query}`)).statusCode).toBe(200)
    expect(asked).toEqual(['/v1/detections/d2/snapshot.jpg?boxed=true', '/v1/detections/d2/snapshot.jpg'])
    expect(await code(`${path('snapshot', 'd2')}?boxed=yes`)).toBe('invalid_request')
  })

  test('a clip is passed on whole and in ranges, with the type and headers of the hub', async () => {
    const whole = await get(path('clip'))
    expect(whole.statusCode).toBe(200)
    expect(whole.rawPayload).toEqual(CLIP)
    expect(whole.headers).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
      'content-length': String(CLIP.length),
      // Without a name of a file: the portal's link names it after what was seen, and when.
      'content-disposition': 'inline',
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(whole.headers).not.toHaveProperty('set-cookie')
    const middle = await get(path('clip'), { range: 'bytes=1000-1999' })
    expect(middle.statusCode).toBe(206)
    expect(middle.headers).toMatchObject({
      'content-range': `bytes 1000-1999/${CLIP.length}`,
      'content-length': '1000',
    })
    expect(middle.rawPayload).toEqual(CLIP.subarray(1_000, 2_000))
    const end = await get(path('clip'), { range: 'bytes=-10' })
    expect([end.statusCode, end.rawPayload]).toEqual([206, CLIP.subarray(-10)])
    expect((await get(path('clip'), { range: 'bytes=0-1,5-9' })).statusCode, 'several are sent whole').toBe(200)
    expect(await code(path('clip'), { range: 'bytes=900000-' })).toBe('range_not_satisfiable')
  })

  test('an address of a clip needs no header, serves ranges, and ends with its time and its session', async () => {
    const api = createTestApi(hub)
    const session = await hub.signIn('manager')
    const make = async () => {
      const params = { id: gateway.gatewayId, detectionId: 'd2' }
      return (await api(contract.createClipLink, { token: session, params })).body as { path: string }
    }
    const link = await make()
    const part = await get(link.path, { range: 'bytes=4-7' }, undefined)
    expect([part.statusCode, part.body]).toEqual([206, 'ftyp'])
    expect(await code(link.path, { 'sec-fetch-site': 'cross-site' })).toBe('origin_not_allowed')
    expect(await code(`/api/v1/hub/clips/${'a'.repeat(43)}`)).toBe('clip_link_invalid')
    hub.clock.advance(contract.CLIP_LINK_LIFETIME_MS)
    expect(await code(link.path)).toBe('clip_link_invalid')
    const next = await make()
    await api(contract.logout, { token: session })
    expect(await code(next.path)).toBe('session_ended')
  })

  test('people who may not see the gateway get no clip, snapshot or address, and it is not asked', async () => {
    const user = await hub.signIn('user')
    for (const what of ['snapshot', 'clip']) {
      expect(await code(path(what), {}, user)).toBe('gateway_not_found')
      expect(await code(path(what, 'unknown'))).toBe('detection_not_found')
    }
    const link = await hub.app.inject({
      method: 'POST',
      url: path('clip-link'),
      headers: { authorization: `Bearer ${user}` },
    })
    expect(link.json()).toMatchObject({ error: 'gateway_not_found' })
    expect(asked).toEqual([])
    const plain = await insertTestGateway(hub.db, { kind: 'wireguard' })
    const seen = { id: 'd1', camera: 'yard', label: 'boar', severity: 'alert', score: 1 } as const
    const startedAt = new Date(hub.clock.now()).toISOString()
    await storeDetections(hub.db, plain, [{ ...seen, startedAt }], hub.clock.now())
    expect(await code(path('snapshot', 'd1', plain))).toBe('gateway_takes_no_commands')
  })

  const lies: [string, string, (response: ServerResponse) => void][] = [
    ['a page as a snapshot', 'snapshot', (response) => response.end('<script>alert(1)</script>')],
    ['no snapshot', 'snapshot', (response) => response.writeHead(404).end()],
    ['a page as a clip', 'clip', (response) => response.end('<html><script>alert(1)</script></html>')],
    ['another part than was asked', 'clip', (response) => part(response, 'bytes 0-9/300012', 10)],
    ['a part of another length', 'clip', (response) => part(response, 'bytes 4-9/300012', 10)],
    ['a part past the end', 'clip', (response) => part(response, 'bytes 4-13/10', 10)],
    ['a clip beyond all bounds', 'clip', (response) => void response.writeHead(200, { 'content-length': 1e15 }).end()],
    ['a redirect', 'clip', (response) => void response.writeHead(302, { location: 'http://127.0.0.1/' }).end()],
  ]
  const part = (response: ServerResponse, range: string, length: number) =>
    void response.writeHead(206, { 'content-range': range, 'content-length': length }).end(Buffer.alloc(length, 7))
  test.each(lies)('a gateway that answers %s is not believed', async (_what, kind, answer) => {
    door.onRequest = (_incoming, response) => answer(response)
    const range = kind === 'clip' ? { range: 'bytes=4-' } : undefined
    expect(await code(path(kind, 'd3'), range)).toMatch(/^(snapshot|clip)_unavailable$/)
  })

  test('a clip that the gateway is still filming is told apart from none', async () => {
    door.onRequest = (_incoming, response) => response.writeHead(409).end('{"error":"not_finished"}')
    expect(await code(path('clip', 'd3'))).toBe('clip_not_finished')
  })

  test('a gateway that resets, or answers too long a picture, is told apart from one that has none', async () => {
    door.onRequest = (incoming) => incoming.socket.destroy()
    expect(await code(path('snapshot', 'd3'))).toBe('gateway_unreachable')
    expect(await code(path('clip', 'd3'))).toBe('gateway_unreachable')
    door.onRequest = (_incoming, response) => response.end(Buffer.alloc(contract.PICTURE_MAX_BYTES + 1, 0xff))
    expect(await code(path('snapshot', 'd3'))).toBe('gateway_unreachable')
  })

  test('a clip of which the gateway sends less than it said ends broken, and never as if it were whole', async () => {
    door.onRequest = (_incoming, response) => {
      response.writeHead(200, { 'content-length': CLIP.length })
      response.write(CLIP.subarray(0, 200_000), () => response.destroy())
    }
    const ended = new Promise<string>((resolve) => {
      const asking = request({
        port,
        host: '127.0.0.1',
        path: path('clip', 'd2'),
        headers: { authorization: `Bearer ${token}` },
        agent: false,
      })
      asking.on('error', () => resolve('broken'))
      asking.on('response', (answer) =>
        buffer(answer).then(
          () => resolve('whole'),
          () => resolve('broken'),
        ),
      )
      asking.end()
    })
    expect(await ended).toBe('broken')
  })

  test.each([
    ['its person signs out', (session: Session) => hub.sessions.end(session.id)],
    ['its person loses the gateway', () => own(gateway.gatewayId, null)],
  ])('a clip, also by its address, ends when %s', async (_, lose) => {
    door.onRequest = (_incoming, response) => {
      response.writeHead(200, { 'content-length': CLIP.length })
      // Never more than this, so the clip goes on.
      response.write(CLIP.subarray(0, 200_000))
    }
    for (const isByAddress of [false, true]) {
      const session = await startSession()
      await own(gateway.gatewayId, session.userId)
      const headers = { authorization: `Bearer ${session.token}` }
      const link = await hub.app.inject({ method: 'POST', url: path('clip-link', 'd2'), headers })
      const asking = request({
        port,
        host: '127.0.0.1',
        agent: false,
        ...(isByAddress ? { path: link.json<{ path: string }>().path } : { path: path('clip', 'd2'), headers }),
      }).end()
      asking.on('error', () => {})
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      expect(answer.statusCode).toBe(200)
      const cut = once(answer.resume(), 'error')
      await once(answer, 'data')
      await lose(session)
      expect((await cut)[0]).toMatchObject({ code: 'ECONNRESET' })
    }
    await own(gateway.gatewayId, null)
  })

  test('no way through the proxy leads to port 8081 of a gateway', async () => {
    const reached: string[] = []
    door.onRequest = (incoming, response) => {
      reached.push(incoming.url ?? '')
      response.end()
    }
    const page = createServer((_incoming, response) => response.end('the page of the gateway'))
    gateway.peer.stack.listen({ port: GATEWAY_PORT }, (stream) => page.emit('connection', stream))
    const ticket = await hub.app.inject({
      method: 'POST',
      url: `/api/v1/gateway/${gateway.gatewayId}/ui-ticket`,
      headers: { authorization: `Bearer ${token}`, host: `localhost:${port}`, origin: `http://localhost:${port}` },
    })
    const handover = new URL(ticket.json<{ action: string }>().action)
    const uiPort = handover.hostname === '127.0.0.1' ? Number(handover.port) : port
    const entry = await send(uiPort, handover.host, {
      method: 'POST',
      path: handover.pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: `http://localhost:${port}` },
      body: new URLSearchParams({ ticket: ticket.json<{ ticket: string }>().ticket }).toString(),
    })
    const cookie = (entry.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]).join('; ')
    const { address } = await hub.db
      .selectFrom('gateways')
      .select('address')
      .where('id', '=', gateway.gatewayId)
      .executeTakeFirstOrThrow()
    const own = await send(uiPort, handover.host, { headers: { cookie } })
    expect(own.text, 'the way to the page works').toBe('the page of the gateway')
    const name = handover.host.replace(/:\d+$/, '')
    const door8081 = `${address}:${GATEWAY_DOOR_PORT}`
    const ways: [string, Parameters<typeof send>[2]][] = [
      [`${name}:${GATEWAY_DOOR_PORT}`, {}],
      [handover.host, { path: `http://${door8081}/v1/tickets` }],
      [handover.host, { path: `//${door8081}/v1/tickets` }],
      [handover.host, { path: '/:8081/v1/tickets' }],
      [handover.host, { path: '/@127.0.0.1:8081/v1/tickets' }],
      [
        handover.host,
        { headers: { 'x-forwarded-port': '8081', 'x-forwarded-host': door8081, forwarded: `host=${door8081}` } },
      ],
      [handover.host, { method: 'POST', path: '/v1/tickets', body: '{}' }],
      [door8081, {}],
    ]
    for (const [host, way] of ways)
      await send(uiPort, host, { ...way, headers: { cookie, ...way?.headers } }).catch(() => undefined)
    await new Promise<void>((resolve) => {
      const tunnel = request({ port, host: '127.0.0.1', method: 'CONNECT', path: door8081, headers: { cookie } })
      tunnel.on('connect', (_answer, socket) => socket.end(`GET /v1/tickets HTTP/1.1\r\nhost: x\r\n\r\n`))
      tunnel.on('close', () => resolve()).on('error', () => resolve())
      tunnel.end()
    })
    expect(reached).toEqual([])
    expect(door.tickets).toBe(0)
  })
})

describe('what holds up a clip', () => {
  const open = async (stream: (response: ServerResponse) => void, limits = {}) =>
    createClips({ ...limits, door: await localDoor((_request, response) => stream(response)) })
  const gateway = ENROLLED
  const ask_ = (signal = new AbortController().signal) => ({ range: undefined, signal })

  test.each([
    ['sends nothing more', { stalledMs: 50 }, /nothing moved/],
    ['sends without end', { maxBytes: 100_000 }, /longer/],
  ])('a gateway that %s loses the connection', async (what, limits, message) => {
    const clips = await open((response) => {
      response.write(CLIP.subarray(0, 60_000))
      if (what === 'sends without end') response.write(CLIP.subarray(60_000))
    }, limits)
    const { body } = await clips.open(gateway, 'd1', ask_())
    await expect(buffer(body)).rejects.toThrow(message)
  })

  test('a gateway that hangs before its first bytes is given up, and no turn is lost', async () => {
    const clips = await open((response) => response.flushHeaders(), { headTimeoutMs: 20 })
    for (let i = 0; i < 6; i++) await expect(clips.open(gateway, 'd1', ask_())).rejects.toThrow('does not answer')
  })

  test('a reader that leaves ends the pull and gives its turn to the next', async () => {
    let open_ = 0
    const clips = await open((response) => {
      open_ += 1
      response.once('close', () => (open_ -= 1))
      response.write(CLIP.subarray(0, 60_000))
    })
    const leaving = new AbortController()
    const all = await Promise.all(Array.from({ length: 4 }, () => clips.open(gateway, 'd1', ask_(leaving.signal))))
    for (const { body } of all) body.on('error', () => {})
    expect(open_).toBe(4)
    const fifth = clips.open(gateway, 'd1', ask_())
    leaving.abort(new Error('left'))
    const { body } = await fifth
    body.on('error', () => {}).destroy()
    await vi.waitFor(() => expect(open_).toBe(0), { timeout: 20_000 })
  })
})

test('turns are limited for each gateway and in all, wait in order, and are refused when too many wait', async () => {
  const turns = createTurns({ perGateway: 1, total: 2, waiting: 1, waitMs: 60_000 })
  const stay = new AbortController().signal
  const first = await turns.take('a', stay)
  const leaving = new AbortController()
  const waits = turns.take('a', leaving.signal)
  await expect(turns.take('a', stay)).rejects.toThrow('Too many pictures')
  const other = await turns.take('b', stay)
  leaving.abort(new Error('left'))
  await expect(waits).rejects.toThrow('left')
  const next = turns.take('a', stay)
  first()
  first()
  const third = await next
  other()
  third()
  await Promise.all([turns.take('a', stay), turns.take('b', stay)])
})

test('addresses of clips are bounded: the oldest of a session give way', () => {
  const links = createClipLinks({ clock: () => 0 })
  const clip = { gatewayId: 'g', detectionId: 'd', sessionId: 's' }
  const other = links.make({ ...clip, sessionId: 'other' })
  const made = Array.from({ length: 101 }, () => links.make(clip).link)
  expect(() => links.find(made[0]!)).toThrow('unknown or older')
  expect(links.find(made[1]!)).toMatchObject(clip)
  expect(links.find(other.link).sessionId).toBe('other')
})
