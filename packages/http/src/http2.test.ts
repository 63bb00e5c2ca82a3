import { once } from 'node:events'
import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { addTrailers, sendEarlyHints } from './around-answers.ts'
import { createConnectionLimits } from './connection-limits.ts'
import { createFaults } from './faults.ts'
import { closeFront, createTlsFront, cutConnections, type FrontDeadlines, type FrontOptions } from './front.ts'
import { headOf } from './http2-exchange.ts'
import { TEST_CERTIFICATE } from './test-certificate.ts'

const servers: TlsServer[] = []
const clients: { destroy(): void }[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  for (const server of servers.splice(0)) {
    cutConnections(server)
    await new Promise((resolve) => server.close(resolve))
  }
})

const BIG = 3_000_000
const INSECURE = { rejectUnauthorized: false }

/** A front with answers of all kinds. */
async function open({
  perSource = 1_000,
  deadlines,
  handle = answer,
}: { perSource?: number; deadlines?: Partial<FrontDeadlines>; handle?: FrontOptions['handle'] } = {}) {
  const errors: unknown[] = []
  const limits = createConnectionLimits({ perSource, total: 1_000, sourceOf: (address) => address })
  const faults = createFaults({ report: (error) => errors.push(error) })
  const server = createTlsFront({ limits, faults, handle, ...(deadlines && { deadlines }) }, TEST_CERTIFICATE)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  function session(settings: Settings = {}): ClientHttp2Session {
    const client = connectHttp2(`https://127.0.0.1:${port}`, { settings, ...INSECURE })
    client.on('error', () => {})
    clients.push(client)
    return client
  }
  async function tls(protocols: string[], bytes?: Buffer | string): Promise<TLSSocket> {
    const socket = connectTls({ port, host: '127.0.0.1', ALPNProtocols: protocols, ...INSECURE })
    clients.push(socket)
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    if (bytes !== undefined) socket.write(bytes)
    return socket
  }
  const isWell = async () => {
    const socket = await tls(['http/1.1'], 'GET /well HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    return (await text(socket)).endsWith('GET /well x')
  }
  return { server, port, limits, errors, session, tls, isWell }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { url, method, headers } = request
  switch (url) {
    case '/big':
      response.setHeader('content-length', BIG)
      response.end(Buffer.alloc(BIG, 'b'))
      break
    case '/none':
      response.writeHead(304, { etag: '"1"' }).end()
      break
    case '/silence':
      response.flushHeaders()
      break
    case '/cut':
      request.socket.destroy()
      break
    case '/broken':
      throw new Error('broken')
    case '/early':
      response.writeHead(413, { 'content-length': 0 }).end()
      break
    case '/around':
      sendEarlyHints(response, ['Link', '</style.css>; rel=preload'])
      response.setHeader('set-cookie', ['a=1', 'b=2'])
      response.write('body')
      addTrailers(response, ['Checksum', '7'])
      response.end()
      break
    case '/upload':
      void buffer(request).then((bytes) => response.end(`${headers['content-length']} ${bytes.length}`))
      break
    default:
      response.end(`${method} ${url} ${headers.host}${headers.cookie === undefined ? '' : ` ${headers.cookie}`}`)
  }
}

async function ask(session: ClientHttp2Session, fields: OutgoingHttpHeaders, body?: Buffer) {
  const stream = session.request({ ':authority': 'x', ...fields }, { endStream: body === undefined })
  if (body) stream.end(body)
  const hints: unknown[] = []
  let trailers: Record<string, unknown> | undefined
  stream.on('headers', (early: Record<string, unknown>) => hints.push(early['link']))
  stream.on('trailers', (late: Record<string, unknown>) => (trailers = { ...late }))
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  const bytes = await buffer(stream)
  return { status: headers[':status'], headers, hints, trailers, text: bytes.toString('latin1'), code: stream.rstCode }
}

describe('HTTP/2', () => {
  it('carries requests and answers of all kinds, many at once', async () => {
    const front = await open()
    const session = front.session()
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => ask(session, { ':path': `/${i}`, cookie: ['a=1', 'b=2'] })),
    )
    expect(all.map(({ text: said }) => said)).toEqual(Array.from({ length: 50 }, (_, i) => `GET /${i} x a=1; b=2`))
    expect((await ask(session, { ':path': '/big' })).text.length).toBe(BIG)
    const body = Buffer.alloc(BIG, 'u')
    const upload = { ':path': '/upload', ':method': 'POST' }
    expect((await ask(session, upload, body)).text).toBe(`undefined ${BIG}`)
    expect((await ask(session, { ...upload, 'content-length': BIG }, body)).text).toBe(`${BIG} ${BIG}`)
    expect(await ask(session, { ':path': '/none' })).toMatchObject({ status: 304, text: '', headers: { etag: '"1"' } })
    expect(await ask(session, { ':path': '/big', ':method': 'HEAD' })).toMatchObject({
      text: '',
      headers: { 'content-length': String(BIG) },
    })
    const around = await ask(session, { ':path': '/around' })
    expect(around).toMatchObject({ text: 'body', hints: ['</style.css>; rel=preload'], trailers: { checksum: '7' } })
    expect(around.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    for (const name of ['connection', 'transfer-encoding', 'keep-alive'])
      expect(around.headers).not.toHaveProperty(name)
    expect(front.errors).toEqual([])
  })

  it('answers a request before its body has ended, and resets the rest of the body later', async () => {
    const session = (await open()).session()
    const stream = session.request({ ':path': '/early', ':method': 'POST', ':authority': 'x', 'content-length': BIG })
    stream.write('a beginning')
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(headers[':status']).toBe(413)
    await once(stream, 'close')
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  it('is not chosen by a client that does not offer it', async () => {
    const front = await open()
    expect((await front.tls(['h2', 'http/1.1'])).alpnProtocol).toBe('h2')
    expect((await front.tls(['http/1.1'])).alpnProtocol).toBe('http/1.1')
    expect(await front.isWell()).toBe(true)
  })

  it('ends one stream, when its request is cut or breaks, and no other', async () => {
    const front = await open()
    const session = front.session()
    const silent = session.request({ ':path': '/silence', ':authority': 'x' })
    await once(silent, 'response')
    for (const path of ['/cut', '/broken']) {
      const stream = session.request({ ':path': path, ':authority': 'x' })
      await expect(once(stream, 'close')).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    }
    expect((await ask(session, { ':path': '/after' })).text).toBe('GET /after x')
    expect([silent.closed, session.closed]).toEqual([false, false])
    expect(front.errors).toEqual([new Error('broken')])
  })

  it('counts requests of one address over all its sessions', async () => {
    const front = await open({ perSource: 5 })
    const sessions = [front.session(), front.session()]
    const held = [0, 1, 0, 1, 0].map((which) => sessions[which]!.request({ ':path': '/silence', ':authority': 'x' }))
    await Promise.all(held.map((stream) => once(stream, 'response')))
    expect((await ask(sessions[1]!, { ':path': '/more' })).status).toBe(503)
    held[0]!.close(constants.NGHTTP2_CANCEL)
    await expect.poll(async () => (await ask(sessions[1]!, { ':path': '/more' })).status).toBe(200)
    for (const session of sessions) session.destroy()
    await expect.poll(() => front.limits.open()).toBe(0)
  })

  it('ends a session that resets its streams in a row', async () => {
    const front = await open()
    const session = front.session()
    await once(session, 'connect')
    for (let i = 0; i < 2_000 && !session.destroyed; i++) {
      const stream = session.request({ ':path': '/silence', ':authority': 'x' })
      stream.on('error', () => {})
      stream.close(constants.NGHTTP2_CANCEL)
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await expect.poll(() => front.limits.open()).toBe(0)
    expect(await front.isWell()).toBe(true)
    expect(front.errors).toEqual([])
  })

  it('ends a session without a request, whatever else arrives on it, and a stream that nobody reads', async () => {
    const front = await open({ deadlines: { idleMs: 300, keepAliveMs: 300 } })
    const idle = front.session()
    const pings = setInterval(() => !idle.destroyed && idle.ping(() => {}), 50)
    const stalled = front.session()
    stalled.request({ ':path': '/big', ':authority': 'x' }).on('error', () => {})
    front
      .session({ initialWindowSize: 0 })
      .request({ ':path': '/small', ':authority': 'x' })
      .on('error', () => {})
    await expect.poll(() => [idle.destroyed, front.limits.open()]).toEqual([true, 0])
    clearInterval(pings)
    expect(await front.isWell()).toBe(true)
  })

  it('sends a client with too long a head to HTTP/1.1', async () => {
    const front = await open()
    const stream = front.session().request({ ':path': '/', ':authority': 'x', cookie: `a=${'x'.repeat(20_000)}` })
    stream.on('error', () => {})
    await once(stream, 'close').catch(() => {})
    expect(stream.rstCode).toBe(constants.NGHTTP2_HTTP_1_1_REQUIRED)

    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const frame = (type: number, flags: number, id: number, length: number) =>
      Buffer.concat([
        Buffer.from([length >> 16, (length >> 8) & 255, length & 255, type, flags, 0, 0, 0, id]),
        Buffer.alloc(length),
      ])
    const endless = Array.from({ length: 100 }, () => frame(9, 0, 1, 16_000))
    const socket = await front.tls(
      ['h2'],
      Buffer.concat([preface, frame(4, 0, 0, 0), frame(1, 0, 1, 16_000), ...endless]),
    )
    socket.resume()
    await once(socket, 'close')
    expect((await front.tls(['h2', 'http/1.1'])).alpnProtocol).toBe('http/1.1')
    expect(await front.isWell()).toBe(true)
    expect(front.errors).toEqual([])
  })

  it('lets current requests end when the server closes', async () => {
    const begun = Promise.withResolvers<ServerResponse>()
    const front = await open({ handle: (_request, response) => begun.resolve(response) })
    const session = front.session()
    const asked = ask(session, { ':path': '/' })
    const response = await begun.promise
    const goneAway = once(session, 'goaway')
    const closed = new Promise<void>((resolve) => closeFront(front.server, resolve))
    await goneAway
    response.end('late')
    expect((await asked).text).toBe('late')
    await closed
  })
})

it.each<[string, string[]]>([
  ['a path with a space', [':method', 'GET', ':path', '/a HTTP/1.1', ':authority', 'x']],
  ['a line end in a field', [':method', 'GET', ':path', '/', ':authority', 'x', 'a', 'b\r\nc: d']],
  ['another host than its authority', [':method', 'GET', ':path', '/', ':authority', 'x', 'host', 'y']],
  ['CONNECT', [':method', 'CONNECT', ':path', '/', ':authority', 'x']],
  ['no path', [':method', 'GET', ':authority', 'x']],
])('no HTTP/1.1 request has %s', (_what, raw) => {
  expect(headOf(raw, false)).toBeUndefined()
})
