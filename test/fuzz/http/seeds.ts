/** The HTTP fuzzer's first inputs: messages with wrong framing, order or ends, as Latin-1 text. */

/** The target of a request and its headers; `cookie` is empty for strangers. */
export type SeedRequest = { host: string; origin: string; cookie: string; path: string }

const WEBSOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ' +
  'dGhlIHNhbXBsZSBub25jZQ==\r\n'

export function requestSeeds({ host, origin, cookie, path }: SeedRequest): string[] {
  const jar = cookie === '' ? '' : `Cookie: ${cookie}\r\n`
  const head = (line: string, rest = '') =>
    `${line} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\n${jar}${rest}\r\n`
  const get = head(`GET ${path}`)
  const upgrade = head(`GET ${path}`, WEBSOCKET)
  const post = (rest: string, body: string) => head(`POST ${path}`, rest) + body
  return [
    get,
    upgrade,
    get + upgrade,
    upgrade + get,
    upgrade + upgrade,
    get.repeat(5) + upgrade + '\x81\x05hello',
    upgrade + '\x81\x85\0\0\0\0hello\x88\x80\0\0\0\0',
    head(`GET ${path}`, `${WEBSOCKET}Content-Length: 3\r\n`) + 'abc',
    head(`GET ${path}`, `${WEBSOCKET}Transfer-Encoding: chunked\r\n`) + '0\r\n\r\n',
    head(`POST ${path}`, WEBSOCKET),
    head(`GET ${path}`, 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'),
    head('CONNECT hub.invalid:443'),
    get + head('CONNECT hub.invalid:443') + get,
    head('OPTIONS *'),
    head('TRACE /'),
    head('HEAD /') + upgrade,
    head(`GET http://other.invalid${path}`),
    head('GET //other.invalid/%2e%2e/%00?x=%'),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
    'GET /\r\n\r\n',
    'GET / HTTP/0.9\r\n\r\n',
    'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: ${host}:99999\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: other.invalid\r\n\r\n`,
    'GET / HTTP/1.1\r\nHost: [::1\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    post(
      'Transfer-Encoding: chunked\r\n',
      '5;name=value;x="y\\""\r\nhello\r\n0;last\r\nX-Trailer: t\r\nHost: x\r\n\r\n',
    ) + get,
    post('Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\nx'),
    post('Transfer-Encoding: chunked\r\n', '-1\r\nx\r\n0\r\n\r\n'),
    post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'),
    post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n') + get,
    post('Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde') + get,
    post('Content-Length: 99999999999999999999\r\n', 'abc'),
    post('Content-Length: 10\r\n', 'abc'),
    post('Expect: 100-continue\r\nContent-Length: 3\r\n', 'abc') + get,
    post('Expect: wonders\r\nContent-Length: 3\r\n', 'abc'),
    post('Content-Type: application/json\r\nContent-Length: 2\r\n', '{}'),
    post(`Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n`, 'ticket=%z'),
    head('POST /__hub/handover', 'Content-Length: 9\r\n') + 'ticket=ab',
    head(`GET ${path}`, `X-Long: ${'x'.repeat(20_000)}\r\n`),
    head(`GET ${path}`, 'X-Many: y\r\n'.repeat(300)),
    head(`GET ${path}`, `Cookie: ${'a=b; '.repeat(4_000)}\r\n`),
    head(`GET ${path}`, 'Range: bytes=0-,5-,-9\r\nIf-Range: "x"\r\nAccept-Encoding: br;q=2, *\r\n'),
    head(`GET ${path}`, 'X: a\r\n folded\r\n'),
    '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03' + 'r'.repeat(100),
    '\r\n\r\n\r\n' + get,
  ]
}

const agreed = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'
const short = 'Content-Length: 2\r\n\r\nok'

export function answerSeeds(): string[] {
  return [
    `HTTP/1.1 200 OK\r\n${short}`,
    `HTTP/1.1 200 OK\r\n${short}`.repeat(2),
    `HTTP/1.1 200 OK\r\n${short}HTTP/1.1 101 Switching Protocols\r\n${agreed}`,
    `HTTP/1.1 101 Switching Protocols\r\n${agreed}\x81\x05hello`,
    `HTTP/1.1 101 Switching Protocols\r\n${agreed}`.replace('websocket', 'h2c'),
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    `HTTP/1.1 101 Switching\x01Protocols\r\n${agreed}`,
    `HTTP/1.1 101 Switching Protocols\r\nX: \x01\r\n${agreed}`,
    ...[
      '000',
      '001',
      '099',
      '100',
      '102',
      '103',
      '199',
      '204',
      '205',
      '299',
      '304',
      '407',
      '599',
      '600',
      '999',
      '1000',
      '-1',
      'abc',
    ].map((status) => `HTTP/1.1 ${status} Reason\r\n${short}`),
    `HTTP/1.1 000 x\r\n${agreed}`,
    `HTTP/1.1 200 ${'\x01\x7f\xff\t'.repeat(8)}\r\n${short}`,
    `HTTP/1.1 200 ${'x'.repeat(5_000)}\r\n${short}`,
    'HTTP/1.1 200\r\n\r\n',
    'HTTP/1.0 200 OK\r\n\r\nuntil the end',
    'HTTP/0.9 200 OK\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n'.repeat(60) + `HTTP/1.1 200 OK\r\n${short}`,
    'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'.repeat(10) + `HTTP/1.1 200 OK\r\n${short}`,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n2;a=b\r\nok\r\n0\r\nX: y\r\nSet-Cookie: ' +
      'a=b\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nok',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: identity, gzip\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nok',
    'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(600)}${short}`,
    `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(40_000)}\r\n${short}`,
    `HTTP/1.1 200 OK\r\nX\x01: y\r\n: z\r\nX y: z\r\n\xff: \xff\r\n${short}`,
    `HTTP/1.1 200 OK\r\nConnection: close, content-length, host\r\nKeep-Alive: timeout=-1\r\n${short}`,
    `HTTP/1.1 302 Found\r\nLocation: http://[::1/\r\nSet-Cookie: =; Domain=;;\x80\r\n${short}`,
    `HTTP/1.1 200 OK\r\nContent-Security-Policy: \xe9\r\nReferrer-Policy: no-referrer\r\nX-Accel-Redirect: ` +
      `/etc\r\n${short}`,
    `HTTP/1.1 200 OK\r\nX: a\r\n folded: b\r\n${short}`,
    `HTTP/1.1 200 OK\r\nContent-Length : 2\r\nTransfer-Encoding\t: chunked\r\n${short}`,
    `HTTP/1.1 200 OK\nContent-Length: 2\n\nok${short}`,
    `HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\n${short}`,
    'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x="\x01"\r\nok\r\n0\r\n\r\n',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: ` +
      `chunked\r\n\r\n${'1;x\r\no\r\n'.repeat(200)}0\r\n${'X: y\r\n'.repeat(300)}\r\n`,
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    `HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=999999, max=1\r\n${short}\r\n\r\n`,
    '\x16\x03\x01\x02\0\x01',
    'SSH-2.0-OpenSSH_9\r\n',
    '',
  ]
}
