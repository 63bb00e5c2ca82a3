/**
 * Holds the reader of plain requests (`packages/http/src/plain`) against Node's parser, which is fed the same bytes:
 * whatever ours takes, Node must read to the same fields, with the same body, and see the next request where ours does.
 * The connections of Node's server are streams in memory.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import type { Random } from '../../../packages/wireguard/fuzz/mutate.ts'
import { readPlainHead } from '../../../packages/http/src/plain/head.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PROPFIND', 'QUERY', 'get', 'GETS', 'TRACE', 'CONNECT', '']
const TARGETS = ['/', '/a?b=%20', '/ü', '//x/../y', '/a b', '*', 'http://own/', '/#', '/\x7f', '/"<>|']
const NAMES = ['Cookie', 'cookie', 'Accept', 'X-A', 'x_b', 'a b', 'Set-Cookie', 'Referer', 'Content-Type', '', 'A\x00']
const FRAMING = [
  'Content-Length',
  'content-length',
  'Transfer-Encoding',
  'Connection',
  'Expect',
  'Upgrade',
  'Host',
  'TE',
]
const VALUES = [
  '',
  'a',
  ' b ',
  '\t"c";d=1,',
  '\xa0\xff',
  '0',
  '5',
  '05',
  '+5',
  '5, 5',
  '0x5',
  'chunked',
  'close',
  'x, close',
]
const OTHERS = [
  'keep-alive',
  'Keep-Alive',
  '100-continue',
  'h2c',
  'own',
  'a\x0bb',
  'a\rb',
  'a\nb',
  'a\x00',
  'x'.repeat(20_000),
]
const NOISE = ['\r', '\n', '\r\n', ' ', '\t', ':', '\0', '\x0b', '\x85', 'x', '\r\n ', '\r\n\r\n', ' HTTP/1.1', '\xff']
const LAST = 'GET /last HTTP/1.1\r\nHost: own\r\n\r\n'
const BODY = 'hello, POST /smuggled HTTP/1.1\r\n\r\n'

/** Bytes that often are a plain request, and otherwise nearly one. */
export function makeHead(random: Random): string {
  const pick = (from: readonly string[]) => from[random(from.length)]!
  const rarely = (usual: string, from: readonly string[]) => (random(12) > 0 ? usual : pick(from))
  const field = () => {
    const name = pick(random(3) > 0 ? NAMES.slice(0, 5) : [...NAMES, ...FRAMING])
    const value = pick(random(8) > 0 ? VALUES : OTHERS)
    if (random(12) === 0) return `Content-Length: ${pick(['5', '0', '1'])}\r\n`
    return name + rarely(': ', [':', ':\t ', ' : ', '']) + value + rarely('\r\n', ['\n', '\r', '\r\n ', '\r\n\r\n'])
  }
  const fields = Array.from({ length: random(random(60) > 0 ? 6 : 130) }, field)
  fields.splice(random(fields.length + 1), 0, rarely('Host: own\r\n', ['', 'Host:\r\n', 'host: a\r\nHost: b\r\n']))
  const target = pick(random(4) > 0 ? TARGETS.slice(0, 2) : TARGETS)
  const method = pick(random(4) > 0 ? METHODS.slice(0, 6) : METHODS)
  let text = `${method} ${target}${rarely(' HTTP/1.1', [' HTTP/1.0', ' HTTP/2.0', '  HTTP/1.1', ' http/1.1', ''])}\r\n`
  text += `${fields.join('')}\r\n`
  for (let changes = random(3) > 0 ? 0 : 1 + random(2); changes > 0; changes--) {
    const at = random(text.length)
    text = text.slice(0, at) + pick(NOISE) + text.slice(at + random(3))
  }
  return text
}

type Seen = { method: string | undefined; url: string | undefined; raw: string[]; headers: object; body: string }

/** Whether ours takes it. Throws when Node then reads anything else. */
export async function compare(text: string): Promise<boolean> {
  const bytes = Buffer.from(text + BODY.repeat(3), 'latin1')
  const plain = readPlainHead(bytes)
  if (!plain) return false
  const { method, url, end, fields } = plain
  const whole = bytes.toString('latin1', 0, end + fields.bodyBytes).padEnd(end + fields.bodyBytes, '.')
  const expected: Seen[] = [
    { method, url, raw: [...fields.raw], headers: { ...fields.byName }, body: whole.slice(end) },
    ...(fields.isLast
      ? []
      : [{ method: 'GET', url: '/last', raw: ['Host', 'own'], headers: { host: 'own' }, body: '' }]),
  ]
  const seen = await readByNode(whole + LAST, expected.length)
  const [ours, nodes] = [JSON.stringify(expected), JSON.stringify(seen)]
  if (ours !== nodes) throw new Error(`${JSON.stringify(text)}\n  ours ${ours}\n  Node ${nodes}`)
  return true
}

/** What Node's server reads from a connection until it has `count` requests, or refuses one. */
function readByNode(text: string, count: number): Promise<Seen[]> {
  const seen: Seen[] = []
  const { promise, resolve } = Promise.withResolvers<Seen[]>()
  const wire = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(seenIn(request, Buffer.concat(chunks)))
      response.end()
      if (seen.length === count) resolve(seen)
    })
  })
  server.on('clientError', () => resolve(seen))
  server.emit('connection', wire)
  wire.push(text, 'latin1')
  return promise.finally(() => wire.destroy())
}

const seenIn = ({ method, url, rawHeaders, headers }: IncomingMessage, body: Buffer): Seen => ({
  method,
  url,
  raw: rawHeaders,
  headers: { ...headers },
  body: body.toString('latin1'),
})
