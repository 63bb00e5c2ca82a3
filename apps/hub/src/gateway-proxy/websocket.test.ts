import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'
import { standstill } from '#testing/standstill.ts'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi({ progressTimeoutMs: 3_000 })
})
afterEach(() => hub.stop())

const AGREED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n'

/** A gateway that accepts every WebSocket, sends hello and echoes all bytes. */
async function openEcho() {
  const seen: IncomingMessage[] = []
  const sockets: Socket[] = []
  const server = createServer((_req, res) => res.end('page'))
  server.on('upgrade', (req, socket: Socket, head) => {
    seen.push(req)
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write(`${AGREED}Set-Cookie: a=1; Domain=localhost\r\nAlt-Svc: h3=":1"\r\n\r\nhello`)
    if (head.length > 0) socket.write(head)
    socket.pipe(socket)
  })
  const person = await hub.signIn()
  const gateway = await hub.addGateway(server)
  return { seen, sockets, gateway, ...person, ...(await hub.open(person.caller, gateway.id)) }
}

type Page = Awaited<ReturnType<typeof openEcho>>

/** What a browser does for `new WebSocket()`; a refusal is returned as its status and body. */
function upgrade(
  page: Page,
  headers: Record<string, string | undefined> = {},
): Promise<{ socket: Socket; head: Buffer; answer: IncomingMessage }> {
  const outgoing = request({
    host: '127.0.0.1',
    port: page.port,
    path: '/ws?stream=1',
    headers: present({
      host: page.host,
      origin: page.origin,
      cookie: page.cookie,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'eHh4',
      'sec-websocket-version': '13',
      ...headers,
    }),
  }).end()
  return new Promise((resolve, reject) => {
    outgoing.once('error', reject)
    outgoing.once('upgrade', (answer, socket: Socket, head) =>
      resolve({ socket: socket.on('error', () => {}), head, answer }),
    )
    outgoing.once('response', (answer) => {
      answer.resume()
      reject(Object.assign(new Error(String(answer.statusCode)), { answer }))
    })
  })
}

function present(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

async function read(socket: Socket, head: Buffer, length: number): Promise<string> {
  let bytes = head
  while (bytes.length < length) bytes = Buffer.concat([bytes, ((await once(socket, 'data')) as [Buffer])[0]])
  return bytes.toString()
}

it('ends when the hub begins to stop', async () => {
  const page = await openEcho()
  const { socket } = await upgrade(page)
  const closed = once(socket.resume(), 'close')
  hub.ui.endEndless()
  await closed
  await expect.poll(() => page.sockets[0]?.destroyed).toBe(true)
})

it('a WebSocket passes bytes both ways', async () => {
  const page = await openEcho()
  const { socket, head, answer } = await upgrade(page)
  expect(answer.headers).toMatchObject({ upgrade: 'websocket', 'sec-websocket-accept': 'x', 'set-cookie': ['a=1'] })
  expect(answer.headers).not.toHaveProperty('alt-svc')
  expect(await read(socket, head, 5)).toBe('hello')
  socket.write('ping')
  expect(await read(socket, Buffer.alloc(0), 4)).toBe('ping')
  expect(page.seen[0]?.url).toBe('/ws?stream=1')
  expect(page.seen[0]?.headers).toMatchObject({
    'x-hub-user': encodeURIComponent(page.caller.username),
    origin: page.origin,
    host: page.host,
  })
  expect(page.seen[0]?.headers).not.toHaveProperty('cookie')
  socket.destroy()
})

it.each<[string, Record<string, string | undefined>, string]>([
  ['of another page', { origin: 'http://evil.net' }, '403'],
  ['of another gateway', { origin: 'http://gw-zzzzzzzz7777.localhost' }, '403'],
  ['of the hub', { origin: 'http://localhost' }, '403'],
  ['of a page that hides its origin', { origin: 'null' }, '403'],
  ['without an origin', { origin: undefined }, '403'],
  ['without a session', { cookie: '' }, '401'],
  ['with a made-up session', { cookie: '__Host-gws=x' }, '401'],
  ['that is invalid', { upgrade: 'h2c' }, '400'],
])('a WebSocket %s is refused', async (_what, headers, status) => {
  const page = await openEcho()
  await expect(upgrade(page, headers)).rejects.toThrow(status)
  expect(page.seen).toEqual([])
})

it('an open WebSocket closes when its session ends', async () => {
  const page = await openEcho()
  const { socket } = await upgrade(page)
  const upstream = page.sockets[0]
  const closed = [once(socket.resume(), 'close'), once(upstream as Socket, 'close')]
  await hub.sessions.end(page.caller.sessionId)
  await expect(Promise.all(closed)).resolves.toHaveLength(2)
})

it('an open WebSocket counts its person as present', async () => {
  const page = await openEcho()
  const { socket } = await upgrade(page)
  hub.turnClock(70_000)
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(1)
  socket.destroy()
  const presentLater = () => {
    hub.turnClock(70_000)
    return hub.ui.connectedUsers(page.gateway.id)
  }
  await expect.poll(presentLater).toBe(0)
})

it('the end of one side ends the other', async () => {
  const page = await openEcho()
  const first = await upgrade(page)
  page.sockets[0]?.end('bye')
  expect(await read(first.socket, first.head, 8)).toBe('hellobye')
  await once(first.socket.resume(), 'close')

  const second = await upgrade(page)
  const upstream = page.sockets[1] as Socket
  second.socket.resetAndDestroy()
  await once(upstream, 'close')
})

it('a side that does not read stops the other', async () => {
  const page = await openEcho()
  const { socket, head } = await upgrade(page)
  socket.pause()
  const megabyte = Buffer.alloc(1024 * 1024)
  let writtenMb = 0
  const over = new AbortController()
  const writing = (async () => {
    for (; writtenMb < 300 && !over.signal.aborted; writtenMb++)
      if (!socket.write(megabyte)) await once(socket, 'drain')
  })()
  // Nobody reads the echo, so at some point this side can write no more.
  const held = await standstill(
    () => writtenMb,
    () => page.go(),
  )
  expect(held, 'the transfer is under way').toBeGreaterThan(1)
  expect(held).toBeLessThan(100)

  over.abort()
  let read = 0
  socket.on('data', (chunk: Buffer) => (read += chunk.length)).resume()
  await writing
  await expect
    .poll(() => read, { message: 'all of it is echoed to a reader that continues' })
    .toBe('hello'.length - head.length + writtenMb * megabyte.length)
  socket.destroy()
})

it('a frame of 100 MB passes unchanged, with no more in memory than sockets buffer', async () => {
  const page = await openEcho()
  const { socket, head } = await upgrade(page)
  const upstream = page.sockets[0] as Socket
  await read(socket, head, 5)
  upstream.unpipe()
  upstream.pause()
  const megabyte = randomBytes(1024 * 1024)
  const hashes = { sent: createHash('sha256'), arrived: createHash('sha256') }
  let arrived = 0
  const whole = Promise.withResolvers<void>()
  const take = (chunk: Buffer) => {
    hashes.arrived.update(chunk)
    arrived += chunk.length
    if (arrived === 10 + 100 * megabyte.length) whole.resolve()
  }
  // RFC 6455 §5.2: the last frame of a message, binary, with a length of eight bytes.
  const frame = Buffer.alloc(10)
  frame.set([0x82, 127])
  frame.writeBigUInt64BE(BigInt(100 * megabyte.length), 2)
  hashes.sent.update(frame)
  socket.write(frame)
  let sent = 0
  let mostUnderWay = 0
  const sending = (async () => {
    while (sent < 100) {
      hashes.sent.update(megabyte)
      sent++
      if (!socket.write(megabyte)) await once(socket, 'drain')
      mostUnderWay = Math.max(mostUnderWay, sent * megabyte.length - arrived)
    }
  })()
  const held = await standstill(
    () => sent,
    () => page.go(),
  )
  expect(held, 'the transfer is under way').toBeGreaterThan(1)
  expect(held).toBeLessThan(40)
  upstream.on('data', take)
  upstream.resume()
  await sending
  await whole.promise
  expect(hashes.arrived.digest('hex')).toBe(hashes.sent.digest('hex'))
  expect(mostUnderWay).toBeLessThan(40 * megabyte.length)
  socket.destroy()
})

it('a session may have many WebSockets, up to a limit', async () => {
  const page = await openEcho()
  const open: Socket[] = []
  await expect(
    (async () => {
      for (let i = 0; i < 300; i++) open.push((await upgrade(page)).socket)
    })(),
  ).rejects.toThrow('429')
  expect(open).toHaveLength(256)
  for (const socket of open) socket.destroy()
  const again = () => upgrade(page).then(({ socket }) => socket.destroy().destroyed)
  await expect.poll(again).toBe(true)
})

it('a refusal by the gateway is passed on, and a hanging gateway is given up', async () => {
  const person = await hub.signIn()
  const declining = createServer((_req, res) => res.writeHead(418).end('no'))
  const asked: string[] = []
  const hanging = createServer().on('upgrade', (req, socket) => {
    asked.push(String(req.url))
    socket.on('error', () => {})
  })
  for (const [server, status] of [
    [declining, '418'],
    [hanging, '502'],
  ] as const) {
    const gateway = await hub.addGateway(server)
    const page = await hub.open(person.caller, gateway.id)
    await expect(upgrade({ ...person, gateway, seen: [], sockets: [], ...page })).rejects.toThrow(status)
  }
  expect(asked, 'the hanging gateway got the request').toEqual(['/ws?stream=1'])
})
