import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UnusableAnswer, type AnswerHead } from './answer-head.ts'
import { AnswerReader, type SentRequest } from './answer-reader.ts'

type Read = {
  head: AnswerHead | undefined
  body: string
  isEnded: boolean
  rest: string
  isReusable: boolean
  reader: AnswerReader
}

/** Reads `bytes` in pieces that end at `cuts`; `closes` ends the connection after them. */
function read(bytes: string, { method = 'GET', isUpgrade = false, cuts = [] as number[], closes = false } = {}): Read {
  const asked: SentRequest = { method, isUpgrade }
  let [head, body, ends] = [undefined as AnswerHead | undefined, '', 0]
  const reader = new AnswerReader(asked, {
    onHead: (its) => void (head = its),
    onBody: (part) => void (body += part.toString('latin1')),
    onEnd: () => void ends++,
  })
  const all = Buffer.from(bytes, 'latin1')
  const edges = [0, ...cuts.toSorted((a, b) => a - b), all.length]
  let rest = ''
  for (let i = 1; i < edges.length; i++) {
    if (edges[i] === edges[i - 1]) continue
    if (reader.isComplete) rest += all.toString('latin1', edges[i - 1], edges[i])
    else {
      reader.read(all.subarray(edges[i - 1], edges[i]))
      rest += reader.rest.toString('latin1')
    }
  }
  if (closes) reader.end()
  expect(ends).toBeLessThanOrEqual(1)
  return { head, body, isEnded: ends === 1, rest, isReusable: reader.isReusable, reader }
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

describe('an answer', () => {
  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok', true],
    ['with a length in odd spelling', 'HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh:\t 2 \t\r\n\r\nok', 'ok', true],
    ['without a body', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '', true],
    ['without a reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', 'ok', true],
    ['in chunks', `${CHUNKED}2\r\nok\r\nA\r\n0123456789\r\n0\r\n\r\n`, 'ok0123456789', true],
    ['with chunk extensions', `${CHUNKED}2;a=b;c="d"\r\nok\r\n0;x\r\n\r\n`, 'ok', true],
    ['with trailers', `${CHUNKED}2\r\nok\r\n0\r\nX-A: b\r\nX-C:\r\n\r\n`, 'ok', true],
    [
      'after interim answers',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 ' +
        'OK\r\nContent-Length: 2\r\n\r\nok',
      'ok',
      true,
    ],
    ['status 204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', '', true],
    ['status 304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n', '', true],
    ['that closes', 'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok', 'ok', false],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok', false],
  ])('%s is complete with its last byte', (_what, bytes, body, isReusable) => {
    expect(read(bytes)).toMatchObject({ body, isEnded: true, isReusable, rest: '' })
    expect(read(bytes.slice(0, -1)).isEnded).toBe(false)
  })

  it.each([['HTTP/1.1 200 OK\r\n\r\nall'], ['HTTP/1.0 200 OK\r\nX: y\r\n\r\nall']])(
    'without framing lasts until the connection closes: %j',
    (bytes) => {
      expect(read(bytes)).toMatchObject({ body: 'all', isEnded: false })
      expect(read(bytes, { closes: true })).toMatchObject({ body: 'all', isEnded: true, isReusable: false })
    },
  )

  it('to HEAD has no body, whatever its length says', () => {
    const bytes = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n'
    expect(read(bytes, { method: 'HEAD' })).toMatchObject({ isEnded: true, isReusable: true })
    expect(read(bytes, { method: 'HEAD' }).head?.headers).toEqual(['Content-Length', '100'])
    const chunked = read(CHUNKED, { method: 'HEAD' })
    expect(chunked).toMatchObject({ isEnded: true, isReusable: true })
  })

  it('that never has a body has no length', () => {
    const { head } = read('HTTP/1.1 204 x\r\nX-Own: 1\r\nContent-Length: 5\r\n\r\n')
    expect(head?.headers).toEqual(['X-Own', '1'])
  })

  it('followed by more bytes leaves a connection that is not used again', () => {
    const read_ = read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n')
    expect(read_).toMatchObject({ body: 'ok', isEnded: true, isReusable: false, rest: 'HTTP/1.1 200 OK\r\n' })
  })

  it('that switches protocols gives what follows to the other protocol', () => {
    const bytes = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x00'
    expect(read(bytes, { isUpgrade: true })).toMatchObject({ head: { status: 101 }, isEnded: true, rest: '\x81\x00' })
    expect(() => read(bytes)).toThrow(UnusableAnswer)
  })

  it('says how long the server keeps the connection', () => {
    const kept = (value: string) =>
      read(`HTTP/1.1 200 OK\r\nKeep-Alive: ${value}\r\nContent-Length: 0\r\n\r\n`).reader.keepAliveSeconds
    expect([kept('timeout=5, max=100'), kept('max=100'), kept('timeout=x')]).toEqual([5, Infinity, Infinity])
  })
})

const LENGTH = 'Content-Length: 2\r\n'
const end = '\r\nok'
it.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['TLS', '\x16\x03\x01\x02'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['HTTP/0.9', '<html>'],
  ['an empty line first', `\r\nHTTP/1.1 200 OK\r\n${LENGTH}${end}`],
  ['a bare line feed', `HTTP/1.1 200 OK\nContent-Length: 2\n\nok\r\n\r\n`],
  ['a bare line feed in a header', `HTTP/1.1 200 OK\r\nX: y\nX-B: z\r\n${LENGTH}${end}`],
  ['a bare carriage return in a header', `HTTP/1.1 200 OK\r\nX: y\rX-B: z\r\n${LENGTH}${end}`],
  ['a bare carriage return in the status line', `HTTP/1.1 200 O\rK\r\n${LENGTH}${end}`],
  ['a folded header', `HTTP/1.1 200 OK\r\nX: y\r\n z\r\n${LENGTH}${end}`],
  ['a space before the colon', `HTTP/1.1 200 OK\r\nContent-Length : 2\r\n${end}`],
  ['a header without a colon', `HTTP/1.1 200 OK\r\nX\r\n${LENGTH}${end}`],
  ['a header without a name', `HTTP/1.1 200 OK\r\n: y\r\n${LENGTH}${end}`],
  ['a NUL', `HTTP/1.1 200 OK\r\nX: \0\r\n${LENGTH}${end}`],
  ['status 099', `HTTP/1.1 099 OK\r\n${LENGTH}${end}`],
  ['status 600', `HTTP/1.1 600 OK\r\n${LENGTH}${end}`],
  ['two lengths', `HTTP/1.1 200 OK\r\n${LENGTH}${LENGTH}${end}`],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
  ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
  ['a hexadecimal length', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok'],
  ['a length beyond numbers', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(16)}\r\n\r\nok`],
  ['an empty length', 'HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok'],
  ['a length and chunks', `HTTP/1.1 200 OK\r\n${LENGTH}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['chunks of HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok'],
  ['two codings', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
  ['chunked twice', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a coding that looks like chunked', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'],
  ['a coding with a vertical tab', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', `${CHUNKED}\r\nok\r\n`],
  ['a chunk with a sign', `${CHUNKED}+2\r\nok\r\n0\r\n\r\n`],
  ['a chunk with 0x', `${CHUNKED}0x2\r\nok\r\n0\r\n\r\n`],
  ['a chunk beyond numbers', `${CHUNKED}fffffffffffff1\r\nok`],
  ['a chunk line without carriage return', `${CHUNKED}2\nok\n0\n\n\r\n`],
  ['a chunk that ends early', `${CHUNKED}3\r\nok\r\n0\r\n\r\n`],
  ['a chunk that ends late', `${CHUNKED}1\r\nok\r\n0\r\n\r\n`],
  ['a chunk that ends with a bare carriage return', `${CHUNKED}2\r\nok\rx0\r\n\r\n`],
  ['a control character in a chunk extension', `${CHUNKED}2;\x01\r\nok\r\n0\r\n\r\n`],
  ['a long chunk extension', `${CHUNKED}2;${'x'.repeat(2_000)}\r\nok`],
  ['an endless chunk extension', `${CHUNKED}2;${'x'.repeat(2_000)}`],
  ['an invalid trailer', `${CHUNKED}0\r\nX y: z\r\n\r\n`],
  ['a flood of trailers', `${CHUNKED}0\r\n${'X: y\r\n'.repeat(20_000)}\r\n`],
  ['a flood of headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(300)}${LENGTH}${end}`],
  ['an endless head', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(50_000)}`],
  ['a flood of interim answers', `${'HTTP/1.1 103 x\r\n\r\n'.repeat(17)}HTTP/1.1 200 OK\r\n${LENGTH}${end}`],
])('%s is no usable answer, however it arrives', (_what, bytes) => {
  expect(() => read(bytes)).toThrow(UnusableAnswer)
  expect(() => read(bytes, { cuts: Array.from(bytes.slice(0, 3_000), (_, i) => i) })).toThrow(UnusableAnswer)
})

it.each(['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', 'HTTP/1.1 200 OK\r\n', '', `${CHUNKED}2\r\nok\r\n`])(
  'a connection that closes too early leaves an incomplete answer: %j',
  (bytes) => expect(() => read(bytes, { closes: true })).toThrow(UnusableAnswer),
)

const token = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/).map((name) => `X-${name}`)
const text = fc.stringMatching(/^[!-~\x80-\xff]{0,20}$/)
const byte = fc.nat(255).map((code) => String.fromCharCode(code))
const body = fc.string({ unit: byte, maxLength: 200 })

it('any valid answer is read the same in any pieces', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(token, text), { maxLength: 8 }),
      fc.array(body, { maxLength: 5 }),
      fc.boolean(),
      fc.array(fc.nat(1_500), { maxLength: 20 }),
      (fields, bodies, isChunked, cuts) => {
        const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        const whole = bodies.join('')
        const chunks = bodies.filter((part) => part !== '').map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
        const framed = isChunked
          ? `Transfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`
          : `Content-Length: ${whole.length}\r\n\r\n${whole}`
        const bytes = `HTTP/1.1 200 OK\r\n${lines}${framed}`
        const within = cuts.filter((cut) => cut < bytes.length)
        const { head, body: seen, isEnded, isReusable, rest } = read(bytes, { cuts: within })
        expect(head?.headers.slice(0, -2)).toEqual(fields.flat())
        expect({ seen, isEnded, isReusable, rest }).toEqual({ seen: whole, isEnded: true, isReusable: true, rest: '' })
      },
    ),
  )
})

it('any bytes are either refused or read the same in any pieces', () => {
  const outcome = (bytes: string, cuts: number[]) => {
    try {
      const { head, body: seen, isEnded, isReusable, rest } = read(bytes, { cuts })
      return { head, seen, isEnded, isReusable, rest }
    } catch (error) {
      if (!(error instanceof UnusableAnswer)) throw error
      return 'refused'
    }
  }
  const part = fc.oneof(
    fc.constantFrom(
      'HTTP/1.1 200 OK\r\n',
      'HTTP/1.0 204 x\r\n',
      '\r\n',
      '0\r\n\r\n',
      '2\r\nok\r\n',
      'X: y\r\n',
      '\n',
      '\r',
    ),
    fc.constantFrom(
      'Content-Length: 2\r\n',
      'Transfer-Encoding: chunked\r\n',
      'HTTP/1.1 100 x\r\n\r\n',
      'ok',
      '5;x\r\n',
    ),
    fc.string({ unit: byte, maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
      const bytes = parts.join('')
      const whole = outcome(bytes, [])
      const single = outcome(
        bytes,
        Array.from(bytes, (_, i) => i),
      )
      // Bytes after a complete answer end its reuse, also when they arrive later: the connection handles that.
      if (whole !== 'refused' && single !== 'refused') single.isReusable = whole.isReusable
      expect(single).toEqual(whole)
    }),
    { numRuns: 2_000 },
  )
})

it.each([
  ['/', 'end'],
  ['/chunks', 'abbcccend'],
  ['/hints', 'end'],
  ['/none', ''],
])('answers of Node’s own server are read: %s', async (path, expected) => {
  const server = createServer((asked, answer) => {
    if (asked.url === '/chunks') for (const part of ['a', 'bb', 'ccc']) answer.write(part)
    if (asked.url === '/hints') answer.writeEarlyHints({ link: '</x>; rel=preload' })
    if (asked.url === '/none') answer.writeHead(204).end()
    else answer.end('end')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let seen = ''
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const parts = { onHead: () => {}, onBody: (part: Buffer) => void (seen += part.toString()), onEnd: () => resolve() }
  const reader = new AnswerReader({ method: 'GET' }, parts)
  socket.on('data', (chunk: Buffer) => reader.read(chunk))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await ended
  expect([seen, reader.isReusable, reader.rest.length]).toEqual([expected, true, 0])
  socket.destroy()
  server.close()
})
