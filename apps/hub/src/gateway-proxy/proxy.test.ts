import { once } from 'node:events'
import { request, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { raw, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'
import { insertToken } from '../accounts/tokens.ts'
import { HUB } from '../facts/facts.ts'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi()
})
afterEach(() => hub.stop())

/** Answers with the received request, as JSON. */
const mirror: RequestListener = (req, res) => {
  void text(req).then((body) =>
    res.end(JSON.stringify({ method: req.method, url: req.url, raw: req.rawHeaders, headers: req.headers, body })),
  )
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
  ])('with its target unchanged: %s', async (path) => {
    const page = await hub.openPage(mirror)
    const answer = await raw(
      hub.hubPort,
      `GET ${path} HTTP/1.1\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toContain(`"url":${JSON.stringify(path)}`)
  })

  it('with method, body, own headers and own cookies', async () => {
    const page = await hub.openPage(mirror)
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
      'x-hub-user': page.caller.username,
      'x-hub-role': 'admin',
    })
  })

  it.each([
    ['POST', {}, '0', undefined],
    ['POST', { 'transfer-encoding': 'chunked' }, undefined, 'chunked'],
    ['GET', {}, undefined, undefined],
    ['DELETE', {}, undefined, undefined],
  ])('%s with %o with the right framing', async (method, headers, length, encoding) => {
    const page = await hub.openPage(mirror)
    const sent = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const body = encoding ? '3\r\nabc\r\n0\r\n\r\n' : ''
    const answer = await raw(
      hub.hubPort,
      `${method} / HTTP/1.1\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: ` +
        `close\r\n${sent.join('')}\r\n${body}`,
    )
    const seen = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
    expect([seen.headers['content-length'], seen.headers['transfer-encoding']]).toEqual([length, encoding])
    expect(seen.body).toBe(encoding ? 'abc' : '')
  })

  it('with the trailers of its body, without those that say who asks', async () => {
    const page = await hub.openPage((req, res) => {
      void text(req).then(() => res.end(JSON.stringify(req.rawTrailers)))
    })
    const trailers = [
      'Checksum: 7',
      'X-Hub-User: root',
      'Cookie: a=1',
      'Authorization: b',
      'Content-Type: text/plain',
      'Host: c',
    ]
    const answer = await raw(
      hub.hubPort,
      `POST / HTTP/1.1\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: ` +
        `close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`,
    )
    expect(answer).toContain('["Checksum","7"]')
  })

  it('without the hub’s token, valid or not, and with an application’s own', async () => {
    const page = await hub.openPage(mirror)
    const seenWith = async (authorization: string | string[]) =>
      JSON.parse((await page.go({ headers: { authorization } })).text).headers.authorization
    const ended = await hub.signIn()
    await hub.sessions.end(ended.caller.sessionId)
    for (const token of [page.token, ended.token]) {
      for (const form of [
        `Bearer ${token}`,
        `bearer  ${token}`,
        `Token "${token}"`,
        token,
        `x.y.${token}`,
        `x.${token}.`,
      ])
        expect(await seenWith(form)).toBeUndefined()
    }
    const wanted = { name: 'program', access: 'all', expiresInDays: 1 } as const
    const owner = { id: page.caller.userId, role: 'admin' } as const
    const program = await insertToken(hub.db, owner, wanted, { at: Date.now(), actor: HUB })
    for (const form of [`Bearer ${program.token}`, `Token "${program.token}"`])
      expect(await seenWith(form)).toBeUndefined()
    const own = `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.x`
    expect(await seenWith(own)).toBe(own)
    expect(await seenWith('Basic YTpi')).toBe('Basic YTpi')
  })

  it('with the real visitor, whatever the browser claims', async () => {
    const page = await hub.openPage(mirror)
    const forged = {
      'x-hub-user': 'root',
      'x-hub-role': 'admin',
      x_hub_user: 'root',
      'x-forwarded-for': '1.2.3.4',
      connection: 'x-hub-user',
    }
    const { raw: names, headers } = JSON.parse((await page.go({ headers: forged })).text)
    expect(headers).toMatchObject({
      'x-hub-user': page.caller.username,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
    })
    expect(JSON.stringify(names)).not.toMatch(/root|1\.2\.3\.4|x_hub/)
  })

  it('but not when another page makes it with the person’s cookie', async () => {
    const page = await hub.openPage(mirror)
    const posted = await page.go({ method: 'POST', headers: { origin: 'http://127.0.0.1:8101' } })
    expect([posted.status, JSON.parse(posted.text).error]).toEqual([403, 'origin_not_allowed'])
    expect((await page.go({ method: 'POST', headers: { origin: page.origin } })).status).toBe(200)
  })
})

describe('an answer reaches the browser', () => {
  it('without headers for the whole host, and with its redirects on its origin', async () => {
    const page = await hub.openPage((_req, res) => {
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
      const page = await hub.openPage((_req, res) => res.writeHead(307, { location }).end())
      const before = hub.dialed.length
      expect((await page.go()).headers.location).toBe(location)
      expect(hub.dialed.length - before).toBe(1)
    },
  )

  it('event by event, as it is written', async () => {
    const page = await hub.openPage((_req, res) => {
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

  it('also before the upload ends', async () => {
    const page = await hub.openPage((_req, res) => res.writeHead(413).end('too much'))
    const body = 'x'.repeat(5_000_000)
    const answer = await page.go({ method: 'POST', body, headers: { 'content-length': String(body.length) } })
    expect(answer).toMatchObject({ status: 413, text: 'too much' })
  })

  it('from a reused connection', async () => {
    const page = await hub.openPage(mirror)
    const before = hub.dialed.length
    for (let i = 0; i < 5; i++) expect((await page.go()).status).toBe(200)
    expect(hub.dialed.length - before).toBe(1)
  })

  it('although the gateway closed the idle connection meanwhile', async () => {
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
    const page = await hub.openPage(server)
    expect((await page.go()).status).toBe(200)
    expect(await page.go()).toMatchObject({ status: 200, text: 'ok' })
    expect(count).toBe(3)
  })
})

it('counts distinct people of the last 60 s', async () => {
  const page = await hub.openPage(mirror)
  const other = await hub.open((await hub.signIn()).caller, page.gateway.id)
  const again = await hub.open(page.caller, page.gateway.id)
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(0)
  for (const { go } of [page, other, again]) await go()
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(2)
  hub.turnClock(61_000)
  expect(hub.ui.connectedUsers(page.gateway.id)).toBe(0)
})

it('leaves every other host to the hub', async () => {
  const page = await hub.openPage(mirror)
  const { cookie } = page
  for (const host of [hub.hubHost, 'example.net', `x.${page.host}`]) {
    const answer = await raw(
      hub.hubPort,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toContain('the hub itself')
  }
})
