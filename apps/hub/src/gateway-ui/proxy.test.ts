import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSessions } from '../accounts/sessions.ts'
import { startGatewayUi, type TestGatewayUi } from './test-gateway-ui.ts'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi({ createSessions, progressTimeoutMs: 400 })
})
afterEach(() => hub.stop())

type Handler = (req: IncomingMessage, res: ServerResponse) => void

async function openPage(handler: Handler, role: 'admin' | 'user' = 'admin') {
  const person = await hub.signIn('admin', role)
  const gateway = await hub.addGateway(handler)
  return { ...person, gateway, ...(await hub.open(person.caller, gateway.id)) }
}

/** Says what arrived, as JSON. */
const mirror: Handler = (req, res) => {
  void text(req).then((body) =>
    res.end(JSON.stringify({ method: req.method, url: req.url, raw: req.rawHeaders, headers: req.headers, body })),
  )
}

/** Writes bytes as they stand to the hub and gives all that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(hub.hubPort, '127.0.0.1')
  socket.write(bytes, 'latin1')
  socket.setTimeout(3_000, () => socket.end())
  return text(socket)
}

/** Gives whether it became true within two seconds. */
async function becomes(isTrue: () => boolean): Promise<boolean> {
  for (let i = 0; i < 200 && !isTrue(); i++) await sleep(10)
  return isTrue()
}

describe('a request reaches the gateway', () => {
  it.each([
    '/a%2Fb%2e%2e/c',
    '/../../etc/passwd',
    '/./x/../y',
    '//double//slashes',
    '/?',
    '/x?a=/../b#',
    '/%00%ff',
    '/a;b=c|d"e',
  ])('with its target untouched: %s', async (path) => {
    const page = await openPage(mirror)
    const answer = await raw(
      `GET ${path} HTTP/1.1\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toContain(`"url":${JSON.stringify(path)}`)
  })

  it('with method, body, own headers and own cookies', async () => {
    const page = await openPage(mirror)
    const answer = await page.go({
      method: 'PATCH',
      path: '/x',
      headers: { cookie: `theme=dark; ${page.cookie}; sid=1`, 'x-app': 'é', 'content-length': '5' },
      body: 'hello',
    })
    const seen = JSON.parse(answer.text)
    expect(seen).toMatchObject({
      method: 'PATCH',
      body: 'hello',
      headers: { cookie: 'theme=dark; sid=1', 'x-app': 'é' },
    })
    expect(seen.headers).toMatchObject({
      'content-length': '5',
      host: page.host,
      'x-hub-user': 'admin',
      'x-hub-role': 'admin',
    })
  })

  it.each([
    ['POST', {}, '0', undefined],
    ['POST', { 'transfer-encoding': 'chunked' }, undefined, 'chunked'],
    ['GET', {}, undefined, undefined],
    ['DELETE', {}, undefined, undefined],
  ])('%s with %o framed as it should be', async (method, headers, length, encoding) => {
    const page = await openPage(mirror)
    const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const body = encoding ? '3\r\nabc\r\n0\r\n\r\n' : ''
    const answer = await raw(
      `${method} / HTTP/1.1\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n${sent.join('')}\r\n${body}`,
    )
    const seen = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
    expect([seen.headers['content-length'], seen.headers['transfer-encoding']]).toEqual([length, encoding])
    expect(seen.body).toBe(encoding ? 'abc' : '')
  })

  it("without the hub's token, living or ended, and with an application's own", async () => {
    const page = await openPage(mirror)
    const seenWith = async (authorization: string | string[]) =>
      JSON.parse((await page.go({ headers: { authorization } as Record<string, string> })).text).headers.authorization
    const ended = await hub.signIn()
    await hub.sessions.end(ended.caller.sessionId)
    for (const token of [page.token, ended.token]) {
      for (const form of [`Bearer ${token}`, `bearer  ${token}`, `Token "${token}"`, token])
        expect(await seenWith(form)).toBeUndefined()
    }
    const own = `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.x`
    expect(await seenWith(own)).toBe(own)
    expect(await seenWith('Basic YTpi')).toBe('Basic YTpi')
  })

  it('saying who asks, whatever the browser claims', async () => {
    const page = await openPage(mirror)
    const forged = {
      'x-hub-user': 'root',
      'x-hub-role': 'admin',
      x_hub_user: 'root',
      'x-forwarded-for': '1.2.3.4',
      connection: 'x-hub-user',
    }
    const { raw: names, headers } = JSON.parse((await page.go({ headers: forged })).text)
    expect(headers).toMatchObject({
      'x-hub-user': 'admin',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    })
    expect(JSON.stringify(names)).not.toMatch(/root|1\.2\.3\.4|x_hub/)
  })

  it('not when another page makes it with the person’s cookie', async () => {
    const page = await openPage(mirror)
    const posted = await page.go({ method: 'POST', headers: { origin: 'http://127.0.0.1:8101' } })
    expect([posted.status, JSON.parse(posted.text).error]).toEqual([403, 'origin_not_allowed'])
    expect((await page.go({ method: 'POST', headers: { origin: page.origin } })).status).toBe(200)
  })
})

describe('an answer reaches the browser', () => {
  it('without what would speak for the whole host, and with its redirects on its origin', async () => {
    const page = await openPage((_req, res) => {
      const headers = [
        ['Location', `http://${page.gateway.address}:8080/login`],
        ['Set-Cookie', 'sid=1; Domain=localhost; Path=/'],
        ['Set-Cookie', '__Host-gws=stolen; Path=/; Secure'],
        ['Clear-Site-Data', '"*"'],
        ['Strict-Transport-Security', 'max-age=1'],
        ['Service-Worker-Allowed', '/'],
        ['Alt-Svc', 'h3=":1"'],
        ['Connection', 'X-Hop'],
        ['X-Hop', '1'],
        ['ETag', '"1"'],
      ]
      res.writeHead(302, 'Over there', headers.flat())
      res.end()
    })
    const answer = await page.go()
    expect(answer.status).toBe(302)
    expect(answer.headers).toMatchObject({
      location: `${page.origin}/login`,
      'set-cookie': ['sid=1; Path=/'],
      etag: '"1"',
    })
    for (const name of ['clear-site-data', 'strict-transport-security', 'service-worker-allowed', 'alt-svc', 'x-hop'])
      expect(answer.headers).not.toHaveProperty(name)
  })

  it.each(['http://127.0.0.1:22/', 'http://169.254.169.254/latest/meta-data/', 'http://localhost:8080/api'])(
    'and the hub itself follows no redirect (%s)',
    async (location) => {
      const page = await openPage((_req, res) => res.writeHead(307, { location }).end())
      const before = hub.dialed.length
      expect((await page.go()).headers.location).toBe(location)
      expect(hub.dialed.length - before).toBe(1)
    },
  )

  it('as it is written, event by event', async () => {
    const page = await openPage((_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: first\n\n')
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const [chunk] = (await once(incoming, 'data')) as [Buffer]
    expect(chunk.toString()).toBe('data: first\n\n')
    outgoing.destroy()
  })

  it('also when it comes before the upload ends', async () => {
    const page = await openPage((_req, res) => res.writeHead(413).end('too much'))
    const body = 'x'.repeat(5_000_000)
    const answer = await page.go({ method: 'POST', body, headers: { 'content-length': String(body.length) } })
    expect(answer).toMatchObject({ status: 413, text: 'too much' })
  })

  it('from a connection that is used again', async () => {
    const page = await openPage(mirror)
    const before = hub.dialed.length
    for (let i = 0; i < 5; i++) expect((await page.go()).status).toBe(200)
    expect(hub.dialed.length - before).toBe(1)
  })

  it('although the gateway closed the idle connection in the meantime', async () => {
    let count = 0
    const server = createTcpServer((socket) => {
      let requests = 0
      socket.on('data', () => {
        count++
        if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        else socket.resetAndDestroy()
      })
      socket.on('error', () => {})
    })
    const page = await openRawGateway(server)
    expect((await page.go()).status).toBe(200)
    expect(await page.go()).toMatchObject({ status: 200, text: 'ok' })
    expect(count).toBe(3)
  })
})

async function openRawGateway(server: ReturnType<typeof createTcpServer>) {
  const { caller } = await hub.signIn()
  const gateway = await hub.addGateway(Object.assign(server, { closeAllConnections: () => {} }) as never)
  return hub.open(caller, gateway.id)
}

/** A gateway that answers every connection's first bytes with these and then does `then`. */
const saying = (bytes: string, then: (socket: Socket) => void = () => {}) =>
  createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes, 'latin1')
      then(socket)
    })
  })

describe('a gateway that misbehaves', () => {
  it('by hanging is given up on, with a page for a person and JSON for a program', async () => {
    const page = await openPage(() => {})
    const forPerson = await page.go({ headers: { accept: 'text/html' } })
    expect(forPerson.status).toBe(502)
    expect(forPerson.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(forPerson.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(forPerson.text).toContain('Barn &#60;')
    expect(forPerson.text).toContain('does not answer')
    expect(forPerson.text).toContain(`http://${hub.hubHost}`)
    const forProgram = await page.go({ headers: { accept: 'application/json' } })
    expect([forProgram.status, JSON.parse(forProgram.text).error]).toEqual([502, 'gateway_unreachable'])
  })

  it('by refusing connections', async () => {
    const page = await openPage(mirror)
    page.gateway.server.close()
    page.gateway.server.closeAllConnections()
    expect((await page.go()).status).toBe(502)
  })

  it.each([
    ['resetting', ''],
    ['speaking something else', 'SSH-2.0-OpenSSH\r\n'],
    ['giving two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'giving a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['switching protocols unasked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['sending endless headers', `HTTP/1.1 200 OK\r\n${'X-Long: y\r\n'.repeat(20_000)}\r\n`],
  ])('by %s', async (_how, bytes) => {
    const page = await openRawGateway(saying(bytes, (socket) => setTimeout(() => socket.resetAndDestroy(), 50)))
    expect((await page.go()).status).toBe(502)
  })

  it('by promising more than it sends leaves an answer that the browser knows to be cut', async () => {
    const page = await openRawGateway(
      saying('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', (socket) => socket.end()),
    )
    await expect(page.go()).rejects.toThrow(/aborted|hang up|ECONNRESET/)
  })

  it('by sending more than it promised gets nothing extra through, and nothing into the next answer', async () => {
    const page = await openRawGateway(
      saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
    )
    for (let i = 0; i < 3; i++) expect((await page.go()).text).toBe('ok')
  })

  it('by not taking the upload is given up on', async () => {
    const page = await openPage((req) => req.pause())
    const body = 'x'.repeat(20_000_000)
    const answer = page.go({ method: 'POST', body, headers: { 'content-length': String(body.length) } })
    await expect(answer.then(({ status }) => status)).resolves.toBe(502)
  })
})

describe('what no browser sends is refused', () => {
  it.each([
    [
      'a length and chunks',
      'POST / HTTP/1.1',
      'Content-Length: 4\r\nTransfer-Encoding: chunked\r\n',
      '0\r\n\r\nGET /x HTTP/1.1\r\n\r\n',
    ],
    ['two lengths', 'POST / HTTP/1.1', 'Content-Length: 4\r\nContent-Length: 5\r\n', 'abcde'],
    ['a malformed coding', 'POST / HTTP/1.1', 'Transfer-Encoding: xchunked\r\n', '0\r\n\r\n'],
    ['a coding after chunked', 'POST / HTTP/1.1', 'Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n'],
    ['a space before the colon', 'GET / HTTP/1.1', 'X-Hub-User : root\r\n', ''],
    ['a folded header', 'GET / HTTP/1.1', 'X-A: 1\r\n X-Hub-User: root\r\n', ''],
    ['a bare line feed in chunks', 'POST / HTTP/1.1', 'Transfer-Encoding: chunked\r\n', '3\nabc\n0\n\n'],
    ['another host in the target', 'GET http://169.254.169.254/ HTTP/1.1', '', ''],
    ['no path', 'OPTIONS * HTTP/1.1', '', ''],
    ['two hosts', 'GET / HTTP/1.1', 'Host: evil.net\r\n', ''],
    ['a tunnel', 'CONNECT evil.net:443 HTTP/1.1', '', ''],
    ['an echo of its headers', 'TRACE / HTTP/1.1', '', ''],
  ])('%s', async (_what, line, headers, body) => {
    const seen: string[] = []
    const page = await openPage((req, res) => {
      seen.push(req.url ?? '')
      req.resume().on('end', () => res.end('reached'))
    })
    const answer = await raw(
      `${line}\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n${headers}\r\n${body}`,
    )
    expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d|$)/)
    expect(answer).not.toContain('reached')
    // A body that turns out to be wrong may end a request that has begun; nothing more may begin.
    expect(seen.length).toBeLessThanOrEqual(1)
    expect(seen).not.toContain('/x')
  })
})

describe('long exchanges', () => {
  const MEGABYTE = randomBytes(1024 * 1024)
  const TOTAL_MB = 200

  it('200 MB come down to a slow reader with little of it in memory', async () => {
    let sentMb = 0
    const page = await openPage((_req, res) => {
      const more = () => {
        while (sentMb < TOTAL_MB) {
          sentMb++
          if (!res.write(MEGABYTE)) return void res.once('drain', more)
        }
        res.end()
      }
      more()
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    await sleep(500)
    // Socket buffers of the machine are all that may have filled while nobody read.
    expect(sentMb).toBeLessThan(40)
    const before = process.memoryUsage().rss
    let received = 0
    let peak = 0
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      received += chunk.length
      peak = Math.max(peak, process.memoryUsage.rss())
      if (received % 64 === 0) await sleep(0)
    }
    expect(received).toBe(TOTAL_MB * MEGABYTE.length)
    expect(peak - before).toBeLessThan(100 * 1024 * 1024)
  })

  it('200 MB go up unchanged', async () => {
    const page = await openPage((req, res) => {
      const hash = createHash('sha256')
      req.on('data', (chunk: Buffer) => hash.update(chunk)).on('end', () => res.end(hash.digest('hex')))
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      method: 'PUT',
      headers: { host: page.host, cookie: page.cookie },
    })
    const hash = createHash('sha256')
    const before = process.memoryUsage().rss
    let peak = 0
    for (let i = 0; i < TOTAL_MB; i++) {
      hash.update(MEGABYTE)
      if (!outgoing.write(MEGABYTE)) await once(outgoing, 'drain')
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    outgoing.end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(await text(incoming)).toBe(hash.digest('hex'))
    expect(peak - before).toBeLessThan(100 * 1024 * 1024)
  })

  it('end at the gateway when the browser leaves', async () => {
    let left = false
    const page = await openPage((_req, res) => {
      res.write('x')
      res.once('close', () => (left = true))
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    await once(outgoing, 'response')
    outgoing.on('error', () => {}).destroy()
    expect(await becomes(() => left)).toBe(true)
  })

  it('end at the gateway when the browser leaves in the middle of an upload', async () => {
    let left = false
    const page = await openPage((req) => req.on('error', () => {}).once('close', () => (left = true)))
    const headers = { host: page.host, cookie: page.cookie, 'content-length': '1000000' }
    const outgoing = request({ port: hub.hubPort, host: '127.0.0.1', method: 'POST', headers }).on('error', () => {})
    outgoing.write('some')
    await sleep(100)
    outgoing.destroy()
    expect(await becomes(() => left)).toBe(true)
  })

  it('end within a second when the session ends, and count as a person present until then', async () => {
    const page = await openPage((_req, res) => void res.write('x'))
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const closed = new Promise((resolve) =>
      incoming
        .on('error', () => {})
        .once('close', resolve)
        .resume(),
    )
    hub.turnClock(70_000)
    expect(hub.ui.connectedUsers(page.gateway.id)).toBe(1)
    const at = performance.now()
    await hub.sessions.end(page.caller.sessionId)
    await closed
    expect(performance.now() - at).toBeLessThan(1_000)
  })

  it('end within a moment when the person may no longer see the gateway', async () => {
    const page = await openPage((_req, res) => void res.write('x'))
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const closed = new Promise((resolve) =>
      incoming
        .on('error', () => {})
        .once('close', resolve)
        .resume(),
    )
    await hub.db.deleteFrom('gateways').execute()
    await closed
    expect(hub.ui.connectedUsers(page.gateway.id)).toBe(1)
  })
})

it('counts distinct people of the last 60 s', async () => {
  const page = await openPage(mirror)
  const other = await hub.open((await hub.signIn()).caller, page.gateway.id)
  const again = await hub.open(page.caller, page.gateway.id)
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(0)
  for (const { go } of [page, other, again]) await go()
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(2)
  hub.turnClock(61_000)
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(0)
})

it('leaves every other host to the hub', async () => {
  const page = await openPage(mirror)
  const { cookie } = page
  for (const host of [hub.hubHost, 'example.net', `x.${page.host}`]) {
    const answer = await raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`)
    expect(answer).toContain('the hub itself')
  }
})
