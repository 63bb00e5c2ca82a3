import { once } from 'node:events'
import type { Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as tlsConnect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnectionLimits, type ConnectionLimitOptions } from './connection-limits.ts'
import { createFaults } from './faults.ts'
import { closeFront, createFront, createTlsFront, cutConnections, type FrontOptions } from './front.ts'
import { TEST_CERTIFICATE } from './test-certificate.ts'

const servers: (Server | TlsServer)[] = []
const clients: Socket[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  for (const server of servers.splice(0)) {
    cutConnections(server)
    await new Promise((resolve) => server.close(resolve))
  }
})

const UPGRADE = 'GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

type Setting = Partial<Omit<FrontOptions, 'limits' | 'faults'>> & {
  limits?: Partial<ConnectionLimitOptions>
  tls?: boolean
}

/** A front that answers every request with its path in the next turn, and every upgrade with an echo. */
async function open({ limits: limited, tls = false, ...options }: Setting = {}) {
  const errors: unknown[] = []
  const refused: string[] = []
  const limits = createConnectionLimits({
    perSource: 100,
    total: 100,
    sourceOf: (address) => address,
    onRefused: (reason) => refused.push(reason),
    ...limited,
  })
  const front: FrontOptions = {
    limits,
    faults: createFaults({ report: (error) => errors.push(error) }),
    handle: (request, response) => void setImmediate(() => response.end(`path ${request.url}`)),
    upgrade: {
      accepts: (request) => request.url === '/socket',
      handle(_request, socket, head) {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
        socket.write(head)
        socket.pipe(socket)
      },
    },
    ...options,
  }
  const server = tls ? createTlsFront(front, TEST_CERTIFICATE) : createFront(front)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  /** A client that never closes its half. */
  async function dial(bytes = '', from = '127.0.0.1'): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
    clients.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    if (bytes) socket.write(bytes, 'latin1')
    return socket
  }
  /** All bytes until the server ends. */
  const say = async (bytes: string) => text(await dial(bytes))
  /** Over TLS where the server speaks it. */
  const dialWell = async () => {
    const socket = tls ? tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : await dial()
    clients.push(socket)
    return socket
  }
  const isWell = async () => {
    const socket = await dialWell()
    socket.write('GET /well HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    return (await text(socket)).endsWith('path /well')
  }
  return { server, port, limits, errors, refused, dial, dialWell, say, isWell }
}

describe('a connection that asks to leave HTTP', () => {
  it.each([
    ['an upgrade', UPGRADE + 'hello', /^HTTP\/1.1 101 [^]*\r\n\r\nhello$/],
    ['an upgrade that nobody takes', UPGRADE.replace('/socket', '/page'), /^HTTP\/1.1 200 [^]*path \/page/],
    ['an upgrade with a body', UPGRADE.replace('Host', 'Content-Length: 3\r\nHost') + 'abc', /^HTTP\/1.1 200 /],
    ['GET and upgrade', get('/a') + UPGRADE, /^HTTP\/1.1 200 [^]*path \/a[^]*HTTP\/1.1 200 [^]*path \/socket/],
    ['upgrade and GET', UPGRADE + get('/a'), /^HTTP\/1.1 101 [^]*\r\n\r\nGET \/a /],
    ['several upgrades', UPGRADE.repeat(5), /^HTTP\/1.1 101 [^]*(GET \/socket [^]*){4}$/],
    [
      'GETs, upgrades and data',
      (get('/a') + UPGRADE).repeat(3) + '\0\0garbage',
      /path \/a[^]*Connection: close[^]*path \/socket$/,
    ],
  ])('%s: one answer after the other', async (_what, bytes, expected) => {
    const front = await open()
    const socket = await front.dial(bytes)
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    await expect.poll(() => received).toMatch(expected)
    expect(front.errors).toEqual([])
    expect(await front.isWell()).toBe(true)
  })

  it.each([
    UPGRADE,
    get('/a') + UPGRADE,
    UPGRADE + get('/a'),
    'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ])('may be reset at once: %j', async (bytes) => {
    const front = await open()
    for (let i = 0; i < 50; i++) (await front.dial(bytes)).resetAndDestroy()
    await expect.poll(() => front.limits.open()).toBe(0)
    expect(await front.isWell()).toBe(true)
    expect(front.errors).toEqual([])
  })

  it('is ended without an answer after CONNECT, also after requests that are due', async () => {
    const front = await open()
    expect(await front.say(get('/a').repeat(3) + 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')).not.toContain('101')
    await expect.poll(() => front.limits.open()).toBe(0)
  })
})

describe('an error of the server', () => {
  it.each<[string, FrontOptions['handle']]>([
    [
      'at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['in a promise', () => Promise.reject(new Error('broken')) as unknown as void],
  ])('%s ends that connection and is reported once a minute', async (_when, breaks) => {
    const front = await open({
      handle: (request, response) =>
        request.url === '/well' ? void response.end('path /well') : breaks(request, response),
    })
    for (let i = 0; i < 3; i++) expect(await front.say(get('/'))).toBe('')
    expect(front.errors).toEqual([new Error('broken')])
    expect(await front.isWell()).toBe(true)
  })

  it('while a connection leaves HTTP ends that connection', async () => {
    const upgrade = {
      accepts: () => true,
      handle: () => {
        throw new Error('broken')
      },
    }
    const front = await open({ upgrade })
    expect(await front.say(UPGRADE)).toBe('')
    expect(front.errors).toHaveLength(1)
  })
})

describe('every end has a deadline', () => {
  it.each([
    ['no HTTP at all', 'SSH-2.0-x\r\n\r\n'],
    ['an answer that closes', 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
    ['an expectation', 'GET / HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n'],
    ['a head that never ends', 'GET / HTTP/1.1\r\nHost: '],
    ['silence', ''],
    ['silence after an answer', get('/')],
  ])('after %s, though the client keeps its half open', async (_what, bytes) => {
    const front = await open({ deadlines: { headersMs: 300, idleMs: 300, keepAliveMs: 300, lingerMs: 100 } })
    await front.dial(bytes)
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('also when the client reads nothing of its answer', async () => {
    const big = Buffer.alloc(32 * 1024 * 1024)
    const front = await open({ handle: (_request, response) => void response.end(big), deadlines: { idleMs: 300 } })
    const socket = await front.dial(get('/'))
    socket.pause()
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('also when the client has ended its half and the answer stands still', async () => {
    const front = await open({
      handle: (_request, response) => void response.write('half'),
      deadlines: { idleMs: 300 },
    })
    const socket = await front.dial(get('/'))
    socket.end()
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('also after HTTP, when the client has ended its half and the other side never does', async () => {
    const upgrade = {
      accepts: () => true,
      handle(_request: unknown, socket: Socket) {
        socket.write('agreed')
        socket.resume()
      },
    }
    const front = await open({ upgrade, deadlines: { idleMs: 300 } })
    const socket = await front.dial(UPGRADE)
    await once(socket, 'data')
    socket.end()
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('also after HTTP, when the client reads nothing of the bytes for it', async () => {
    const upgrade = {
      accepts: () => true,
      handle: (_request: unknown, socket: Socket) => void socket.write(Buffer.alloc(32 * 1024 * 1024)),
    }
    const front = await open({ upgrade, deadlines: { idleMs: 300 } })
    const socket = await front.dial(UPGRADE)
    socket.pause()
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('but not while an answer takes its time', async () => {
    const front = await open({
      handle: (_request, response) => void setTimeout(() => response.end('late'), 1_500),
      deadlines: { idleMs: 200 },
    })
    expect(await front.say('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('late')
  })

  it('also in a TLS handshake that never finishes, and in one of garbage', async () => {
    const front = await open({ tls: true, deadlines: { handshakeMs: 300 } })
    await front.dial()
    await front.dial('GET / HTTP/1.1\r\n\r\n')
    await front.dial('\x16\x03\x01\x02\x00\x01')
    await expect.poll(() => front.limits.open()).toBe(0)
    expect(await front.isWell()).toBe(true)
  })
})

describe('a server that closes', () => {
  it.each([false, true])('ends a connection after the answer that was due, TLS: %s', async (tls) => {
    const due = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    const { server, dialWell } = await open({
      tls,
      handle(_request, response) {
        arrived.resolve()
        void due.promise.then(() => response.end('late'))
      },
    })
    const keeping = await dialWell()
    const received = text(keeping)
    keeping.write(get('/'))
    await arrived.promise
    const closed = new Promise<void>((resolve) => closeFront(server, resolve))
    due.resolve()
    expect(await received).toMatch(/^HTTP\/1.1 200 OK[^]*late/)
    await closed
  })
})

describe('connections are bounded', () => {
  it('per source: the next one of that source is closed, and others are served', async () => {
    const front = await open({ limits: { perSource: 3 } })
    for (let i = 0; i < 3; i++) await front.dial()
    await expect.poll(() => front.limits.open()).toBe(3)
    expect(await front.say(get('/'))).toBe('')
    expect(front.refused).toEqual(['source'])
    const other = await front.dial(get('/other').replace('Host', 'Connection: close\r\nHost'), '127.0.0.2')
    expect(await text(other)).toContain('path /other')
  })

  it('per source, TLS handshakes included', async () => {
    const front = await open({ tls: true, limits: { perSource: 3 } })
    for (let i = 0; i < 3; i++) await front.dial()
    await expect.poll(() => front.limits.open()).toBe(3)
    expect(await front.say('')).toBe('')
    expect(front.refused).toEqual(['source'])
  })

  it('in total: a new connection replaces the oldest one of the largest source', async () => {
    const front = await open({ limits: { total: 5 } })
    const first = await front.dial()
    const isCut = once(first, 'end')
    for (let i = 0; i < 4; i++) await front.dial()
    await expect.poll(() => front.limits.open()).toBe(5)
    const other = await front.dial(get('/other').replace('Host', 'Connection: close\r\nHost'), '127.0.0.2')
    expect(await text(other)).toContain('path /other')
    await isCut
    expect(front.refused).toEqual(['total'])
  })

  it('behind a trusted proxy per forwarded address, not per proxy', async () => {
    const isLate: (() => void)[] = []
    const front = await open({
      limits: { perSource: 2, isTrusted: () => true },
      sourceAddress: (request) => String(request.headers['x-forwarded-for']),
      handle: (_request, response) => void isLate.push(() => response.end('served')),
    })
    const ask = async (address: string) =>
      front.dial(get('/').replace('Host', `X-Forwarded-For: ${address}\r\nConnection: close\r\nHost`))
    const [one, two] = [await ask('198.18.0.1'), await ask('198.18.0.1')]
    await expect.poll(() => isLate.length).toBe(2)
    expect(await text(await ask('198.18.0.1'))).toContain('503 Service Unavailable')
    const other = await ask('198.18.0.2')
    await expect.poll(() => isLate.length).toBe(3)
    for (const end of isLate) end()
    for (const socket of [one, two, other]) expect(await text(socket)).toContain('served')
    expect(front.limits.open()).toBe(0)
  })

  it('and so are pipelined requests', async () => {
    let served = 0
    const front = await open({ handle: () => void served++ })
    expect(await front.say(get('/').repeat(1_000))).toBe('')
    expect(served).toBe(1)
  })
})
