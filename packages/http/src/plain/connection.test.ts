import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnectionLimits } from '../connection-limits.ts'
import type { Exchange } from '../exchange.ts'
import { createFaults } from '../faults.ts'
import { createFront, cutConnections, type FrontDeadlines, type FrontOptions } from '../front.ts'
import { NodeExchange } from '../node-exchange.ts'
import { readPlainHead } from './head.ts'

const servers: Server[] = []
const clients: Socket[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  for (const server of servers.splice(0)) {
    cutConnections(server)
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Answers with how the request was read, and with what it holds. */
function mirror(exchange: Exchange): void {
  const reader = exchange instanceof NodeExchange ? 'node' : 'plain'
  const body: Buffer[] = []
  exchange.begin({
    onUpload: (bytes) => void body.push(bytes),
    onUploaded: () => answer(),
    onRoom: () => {},
    onAnswered: () => {},
    onOver: () => {},
  })
  if (exchange.hasBody) exchange.resume()
  else answer()
  function answer(): void {
    const said = Buffer.from(`<${reader} ${exchange.method} ${exchange.url} ${Buffer.concat(body).toString()}>`)
    exchange.start({ status: 200, reason: 'OK', headers: ['Content-Length', String(said.length)] })
    exchange.write(said)
    exchange.end()
  }
}

/** A front that owns the host `own`, and answers for others with `<other PATH>`. */
async function open({
  handle = mirror,
  deadlines,
  perSource = 100,
}: {
  handle?: (exchange: Exchange) => unknown
  deadlines?: Partial<FrontDeadlines>
  perSource?: number
} = {}) {
  const errors: unknown[] = []
  const options: FrontOptions = {
    limits: createConnectionLimits({ perSource, total: 100, sourceOf: (address) => address, isTrusted: () => true }),
    sourceAddress: () => 'somebody',
    faults: createFaults({ report: (error) => errors.push(error) }),
    handle: (request, response) => void response.end(`<other ${request.url}>`),
    exchanges: { owns: ({ host }) => host === 'own', handle },
    ...(deadlines && { deadlines }),
  }
  const server = createFront(options)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  async function dial(bytes: string): Promise<Socket> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    clients.push(socket)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(bytes, 'latin1')
    return socket
  }
  const say = async (bytes: string) => text(await dial(bytes))
  return { server, options, errors, dial, say }
}

const get = (path: string, host = 'own', more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`
const LAST = 'Connection: close\r\n'
const put = (body: string, more = '') =>
  `PUT /up HTTP/1.1\r\nHost: own\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
/** When the server has ended a connection, in whatever way. */
const gone = (socket: Socket) =>
  new Promise<'gone'>((resolve) => {
    for (const event of ['end', 'close']) socket.once(event, () => resolve('gone'))
    socket.resume()
  })
/** What the answers say, without their heads. */
const saidIn = (answers: string) => answers.match(/<[^>]*>/g)

describe('a connection with plain requests', () => {
  it.each([
    ['one after the other', get('/a') + get('/b', 'own', LAST), ['<plain GET /a >', '<plain GET /b >']],
    ['with a body', put('hello') + get('/b', 'own', LAST), ['<plain PUT /up hello>', '<plain GET /b >']],
    [
      'and then of another host, and its own again',
      get('/a') + get('/b', 'other') + get('/c', 'own', LAST),
      ['<plain GET /a >', '<other /b>', '<node GET /c >'],
    ],
    [
      'and one that is not',
      `${get('/a')}POST /b HTTP/1.1\r\nHost: own\r\nTransfer-Encoding: chunked\r\n${LAST}\r\n2\r\nhi\r\n0\r\n\r\n`,
      ['<plain GET /a >', '<node POST /b hi>'],
    ],
  ])('%s', async (_what, bytes, expected) => {
    const front = await open()
    expect(saidIn(await front.say(bytes))).toEqual(expected)
    expect(front.errors).toEqual([])
  })

  it('is kept for the next request also by a front that does not listen and is given its connections', async () => {
    const front = await open()
    const never = createFront(front.options)
    front.server.removeAllListeners('connection').on('connection', (socket) => never.emit('connection', socket))
    const client = await front.dial(get('/a'))
    const [first] = await once(client, 'data')
    client.write(get('/b', 'own', LAST))
    expect(saidIn(String(first) + (await text(client)))).toEqual(['<plain GET /a >', '<plain GET /b >'])
    cutConnections(never)
  })

  it.each([
    ['two hosts', get('/a', 'own', 'Host: own\r\n')],
    ['two lengths', put('hello', 'Content-Length: 4\r\n')],
    ['a length and chunks', put('0\r\n\r\n', 'Transfer-Encoding: chunked\r\n')],
    ['a folded header', get('/a', 'own', 'A: b\r\n c\r\n')],
    ['a space before the colon', get('/a', 'own', 'A : b\r\n')],
    ['a bare line feed', get('/a', 'own', 'A: b\nContent-Length: 5\r\n')],
    ['a control character', get('/a', 'own', 'A: \x01\r\n')],
    ['HTTP/1.0', get('/a').replace('1.1', '1.0')],
    ['an absolute target', get('http://own/a', 'own', LAST)],
    ['no host', `GET /a HTTP/1.1\r\n${LAST}\r\n`],
    ['an expectation', put('hello', `Expect: 100-continue\r\n${LAST}`)],
    ['an unknown method', get('/a').replace('GET', 'GETS')],
    ['a head that is not whole', get('/a', 'own', LAST).slice(0, -2)],
  ])('is left to node:http by %s', (_what, bytes) => {
    expect(readPlainHead(Buffer.from(bytes, 'latin1'))).toBeUndefined()
  })

  it('answers before an upload ends, and reads the rest of it', async () => {
    const front = await open({
      handle(exchange) {
        if (exchange.method !== 'PUT') return mirror(exchange)
        exchange.begin({
          onUpload: () => {},
          onUploaded: () => {},
          onRoom: () => {},
          onAnswered: () => {},
          onOver: () => {},
        })
        exchange.resume()
        exchange.start({ status: 200, reason: 'OK', headers: ['Content-Length', '7'] })
        exchange.write(Buffer.from('<early>'))
        exchange.end()
      },
    })
    const socket = await front.dial(put('hello').slice(0, -2))
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
    await expect.poll(() => received, { timeout: 10_000 }).toContain('<early>')
    socket.write(`lo${get('/b', 'own', LAST)}`)
    await once(socket, 'end')
    expect(saidIn(received)).toEqual(['<early>', '<plain GET /b >'])
  })

  it('ends after the refusal of a request whose body nobody reads', async () => {
    const front = await open({
      async handle(exchange) {
        await new Promise(setImmediate)
        exchange.start({ status: 403, reason: 'Forbidden', headers: ['Content-Length', '0'] })
        exchange.end()
      },
    })
    const answers = await front.say(put('hello').repeat(3))
    expect(answers).toMatch(/^HTTP\/1.1 403 Forbidden\r\n[^]*\r\nConnection: close\r\n/)
    expect(answers.match(/HTTP/g)).toHaveLength(1)
  })

  it('frames an answer of unknown length, and sends its trailers and hints', async () => {
    const front = await open({
      handle(exchange) {
        exchange.sendEarlyHints(['Link', '</a.css>', 'X-Secret', '1'])
        exchange.start({ status: 200, reason: 'OK', headers: [] })
        exchange.write(Buffer.from('hello'))
        exchange.write(Buffer.alloc(20_000, 'x'))
        exchange.end(['Checksum', '7', 'Set-Cookie', 'a=1'])
      },
    })
    expect(await front.say(get('/', 'own', LAST))).toMatch(
      /^HTTP\/1.1 103 Early Hints\r\nLink: <\/a.css>\r\n\r\nHTTP\/1.1 200 OK\r\nDate: [^\r]* GMT\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n4e20\r\nx{20000}\r\n0\r\nChecksum: 7\r\n\r\n$/,
    )
    expect(await front.say(get('/', 'own', LAST).replace('GET', 'HEAD'))).toMatch(/Connection: close\r\n\r\n$/)
  })

  it('ends alone when serving one of its requests fails, at once or later', async () => {
    const front = await open({
      handle(exchange) {
        if (exchange.url === '/now') throw new Error('now')
        return exchange.url === '/later' ? Promise.reject(new Error('later')) : mirror(exchange)
      },
    })
    expect(await front.say(get('/now'))).toBe('')
    expect(await front.say(get('/later'))).toBe('')
    expect(saidIn(await front.say(get('/well', 'own', LAST)))).toEqual(['<plain GET /well >'])
    expect(front.errors).toHaveLength(1)
  })

  it.each([
    ['before its first request', '', { headersMs: 50 }],
    ['after an answer', get('/'), { idleMs: 20, keepAliveMs: 50 }],
    ['after an answer to node:http', get('/', 'other'), { keepAliveMs: 50 }],
    ['in the middle of a head', get('/').slice(0, -1), { headersMs: 50 }],
  ])('ends when it is silent %s', async (_what, bytes, deadlines) => {
    const front = await open({ deadlines })
    await expect(gone(await front.dial(bytes))).resolves.toBe('gone')
  })

  it.each(['own', 'other'])('is kept after an answer for longer than a stalled one, host %s', async (host) => {
    const big = Buffer.alloc(32 * 1024 * 1024)
    const front = await open({
      deadlines: { idleMs: 50 },
      handle(exchange) {
        if (exchange.url !== '/big') return mirror(exchange)
        exchange.start({ status: 200, reason: 'OK', headers: ['Content-Length', String(big.length)] })
        exchange.write(big)
        exchange.end()
      },
    })
    const kept = await front.dial(get('/a', host))
    let received = ''
    kept.on('data', (chunk: Buffer) => (received += chunk.toString()))
    await expect.poll(() => received, { timeout: 10_000 }).toContain('>')
    const stalled = await front.dial(get('/big'))
    stalled.pause()
    const connections = () => new Promise((resolve) => front.server.getConnections((_error, count) => resolve(count)))
    await expect.poll(connections, { timeout: 10_000 }).toBe(1)
    kept.write(get('/b', host))
    await expect.poll(() => received, { timeout: 10_000 }).toContain('/b')
  })

  it('ends when its client ends, and with what it sends ahead beyond a bound', async () => {
    const front = await open({ handle: () => {} })
    const ended = await front.dial(get('/a'))
    ended.end()
    await expect(gone(ended)).resolves.toBe('gone')
    const ahead = await front.dial(get('/a').repeat(5_000))
    await expect(gone(ahead)).resolves.toBe('gone')
  })

  it('counts requests behind a trusted proxy by their source', async () => {
    const waiting: Exchange[] = []
    const front = await open({ perSource: 1, handle: (exchange) => void waiting.push(exchange) })
    const first = await front.dial(get('/a'))
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(1)
    expect(await front.say(get('/b'))).toMatch(/^HTTP\/1.1 503 /)
    waiting[0]!.cut()
    await gone(first)
    await front.dial(get('/c'))
    await expect.poll(() => waiting.length, { timeout: 10_000 }).toBe(2)
  })

  it('is closed with its server when no answer is due, and otherwise after it', async () => {
    const due: Exchange[] = []
    const front = await open({
      handle: (exchange) => (exchange.url === '/due' ? void due.push(exchange) : mirror(exchange)),
    })
    const idle = await front.dial(get('/idle'))
    await once(idle, 'data')
    const busy = await front.dial(get('/due'))
    await expect.poll(() => due.length, { timeout: 10_000 }).toBe(1)
    const closed = new Promise((resolve) => front.server.close(resolve))
    await gone(idle)
    mirror(due[0]!)
    expect(saidIn(await text(busy))).toEqual(['<plain GET /due >'])
    busy.end()
    await closed
  })
})
