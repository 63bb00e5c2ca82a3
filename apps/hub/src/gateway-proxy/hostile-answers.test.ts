import { createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { raw, startGatewayUi, type TestGatewayUi } from '../../testing/gateway-proxy.ts'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi({ progressTimeoutMs: 2_000 })
})
afterEach(() => hub.stop())

/** A gateway that answers each connection's first bytes with these. */
const saying = (bytes: string) =>
  createTcpServer((socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(bytes, 'latin1'))
  })

const AGREED = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const UNUSABLE: [string, string][] = [
  ['a control character in the reason phrase', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n'],
  ['a long reason phrase', `HTTP/1.1 200 ${'x'.repeat(1_000)}\r\nContent-Length: 0\r\n\r\n`],
  ['status 000', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n'],
  ['status 999', 'HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n'],
  ['status 101 without a request for it', `HTTP/1.1 101 Switching Protocols\r\nConnection: x\r\n\r\n`],
  ['a flood of interim answers', 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(500)],
  ['a flood of headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(600)}Content-Length: 0\r\n\r\n`],
  ['a control character in a header', 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n'],
]

describe.each([
  ['a request', ''],
  ['a WebSocket', 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eHh4\r\n'],
])('%s as a gateway’s answer', (what, headers) => {
  const cases =
    what === 'a request'
      ? UNUSABLE
      : [...UNUSABLE, ['status 000 and an agreement', `HTTP/1.1 000 x\r\n${AGREED}`] as const]

  it.each(cases)('%s gets 502', async (_how, bytes) => {
    const page = await hub.openPage(saying(bytes))
    const close = headers === '' ? 'Connection: close\r\n' : ''
    const answer = await raw(
      hub.hubPort,
      `GET / HTTP/1.1\r\nHost: ${page.host}\r\nOrigin: ${page.origin}\r\nCookie: ` +
        `${page.cookie}\r\n${close}${headers}\r\n`,
    )
    const final = answer.replace('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n', '')
    expect(final).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n[^]*gateway_unreachable/)
    expect(hub.faulty).toEqual([])
  })

  it('a length and a body where none is allowed passes only the head', async () => {
    const page = await hub.openPage(saying('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello'))
    const answer = await raw(
      hub.hubPort,
      `GET / HTTP/1.1\r\nHost: ${page.host}\r\nOrigin: ${page.origin}\r\nCookie: ` +
        `${page.cookie}\r\n${headers || 'Connection: close\r\n'}\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 204 No Content\r\n/)
    expect(answer).not.toMatch(/hello|content-length/i)
  })
})

const INTERIM = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\nSet-Cookie: gws=1\r\n\r\n'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;own="extension"\r\nok\r\n0\r\n'
const TRAILERS = 'Checksum: 7\r\nX-Accel-Redirect: /etc\r\nSet-Cookie: gws=1\r\nContent-Length: 9\r\n\r\n'

it.each([
  ['1.1', /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/style\.css>; rel=preload\r\n\r\nHTTP\/1\.1 200 OK\r\n/, true],
  ['1.0', /^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nok$/, false],
])(
  'to an HTTP/%s client links of early hints and harmless trailers pass, if it can read them',
  async (version, start, can) => {
    const page = await hub.openPage(saying(INTERIM + CHUNKED + TRAILERS))
    const answer = await raw(
      hub.hubPort,
      `GET / HTTP/${version}\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toMatch(start)
    expect(answer.includes('\r\n0\r\nChecksum: 7\r\n\r\n')).toBe(can)
    expect(answer).not.toMatch(/Accel|gws|extension|content-length/i)
  },
)
