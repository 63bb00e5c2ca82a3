import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { raw, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi({ progressTimeoutMs: 2_000 })
})
afterEach(() => hub.stop())

/** A hub that soon gives up a gateway without progress, for tests of that only: on a slow machine it refuses others. */
async function useImpatientHub() {
  await hub.stop()
  hub = await startGatewayUi({ progressTimeoutMs: 300 })
}

/** A gateway that answers each connection's first bytes with these and then does `then`. */
const saying = (bytes: string, then: (socket: Socket) => void = () => {}) =>
  createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(bytes, 'latin1')
      then(socket)
    })
  })

describe('a gateway that misbehaves', () => {
  it('that hangs is given up, with a page for a person and JSON for a program', async () => {
    await useImpatientHub()
    const page = await hub.openPage(() => {})
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

  it('behind a network that blocks UDP gets an immediate answer that says what to open', async () => {
    const page = await hub.openPage((_req, res) => void res.end('page'))
    hub.blockedUdp.set(page.gateway.id, 'port 51820 of hub.example.org')
    hub.turnClock(1_000)
    const forPerson = await page.go({ headers: { accept: 'text/html' } })
    expect(forPerson.status).toBe(502)
    expect(forPerson.text).toContain('Let UDP from the gateway reach port 51820 of hub.example.org.')
    const forProgram = await page.go({ method: 'POST', headers: { accept: 'application/json' }, body: 'x' })
    expect([forProgram.status, JSON.parse(forProgram.text).error]).toEqual([502, 'gateway_unreachable'])
    const upgrade = `Origin: ${page.origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: ${page.cookie}`
    expect(await raw(page.port, `GET /live HTTP/1.1\r\nHost: ${page.host}\r\n${upgrade}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 502 /,
    )
    expect(hub.dialed).toEqual([])
    hub.blockedUdp.clear()
    hub.turnClock(1_000)
    expect((await page.go()).text).toBe('page')
  })

  it('that refuses connections', async () => {
    const page = await hub.openPage((_req, res) => void res.end('page'))
    page.gateway.server.close()
    for (const socket of hub.dialed) socket.destroy()
    expect((await page.go()).status).toBe(502)
  })

  it.each([
    ['resetting', ''],
    ['that speaks another protocol', 'SSH-2.0-OpenSSH\r\n'],
    ['that sends two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc'],
    [
      'that sends a length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    [
      'that switches protocols unasked',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    ],
    ['that sends endless headers', `HTTP/1.1 200 OK\r\n${'X-Long: y\r\n'.repeat(20_000)}\r\n`],
  ])('by %s', async (_how, bytes) => {
    const page = await hub.openPage(saying(bytes, (socket) => setTimeout(() => socket.resetAndDestroy(), 50)))
    expect((await page.go()).status).toBe(502)
  })

  it('that promises more than it sends leaves an answer that the browser knows to be incomplete', async () => {
    const page = await hub.openPage(
      saying('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort', (socket) => socket.end()),
    )
    await expect(page.go()).rejects.toThrow(/aborted|hang up|ECONNRESET/)
  })

  it('that sends more than it promised adds nothing, not even to the next answer', async () => {
    const page = await hub.openPage(
      saying('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
    )
    for (let i = 0; i < 3; i++) expect((await page.go()).text).toBe('ok')
  })

  it('that does not read the upload is given up', async () => {
    await useImpatientHub()
    const page = await hub.openPage((req) => req.pause())
    const body = 'x'.repeat(20_000_000)
    const answer = page.go({ method: 'POST', body, headers: { 'content-length': String(body.length) } })
    await expect(answer.then(({ status }) => status)).resolves.toBe(502)
  })
})

describe('a page says what failed, what to do, and tries again', () => {
  const forPerson = { accept: 'text/html' }
  const closing = (bytes: string) => saying(bytes, (socket) => socket.end())

  it.each([
    ['a reset', 'closed the connection', saying('', (socket) => socket.resetAndDestroy())],
    ['an end without an answer', 'closed the connection', closing('')],
    ['another protocol', 'is not a web page', closing('SSH-2.0-OpenSSH\r\n')],
    ['silence', 'does not answer in time', saying('')],
  ])('%s', async (what, words, server) => {
    if (what === 'silence') await useImpatientHub()
    const page = await hub.openPage(server)
    const answer = await page.go({ headers: forPerson })
    expect(answer).toMatchObject({ status: 502, headers: { 'x-hub-error': 'gateway_unreachable' } })
    expect(answer.text).toContain(words)
    expect(answer.text).toContain(`href="http://${hub.hubHost}/gateways/${page.gateway.id}"`)
    const policy = String(answer.headers['content-security-policy'])
    const [, script = ''] = /<script>([^]*)<\/script>/.exec(answer.text) ?? []
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`)
  })

  it('a refused connection', async () => {
    const page = await hub.openPage((_req, res) => void res.end('page'))
    page.gateway.server.close()
    for (const socket of hub.dialed) socket.destroy()
    expect((await page.go({ headers: forPerson })).text).toContain('refuses the connection')
  })

  it('too many open requests of one person', async () => {
    const page = await hub.openPage((req, res) => void (req.url === '/held' ? res.write('x') : res.end('page')))
    const held = Array.from({ length: 256 }, () => {
      const outgoing = request({ port: page.port, path: '/held', headers: { host: page.host, cookie: page.cookie } })
      outgoing.on('error', () => {}).end()
      return once(outgoing, 'response').then(() => outgoing)
    })
    const open = await Promise.all(held)
    const answer = await page.go({ headers: forPerson })
    expect(answer).toMatchObject({ status: 429, headers: { 'x-hub-error': 'too_many_requests' } })
    expect(answer.text).toContain('You have too many open requests')
    for (const outgoing of open) outgoing.destroy()
    await expect.poll(async () => (await page.go()).text, { timeout: 10_000 }).toBe('page')
  })

  it('but no request with a body is made again by itself', async () => {
    const page = await hub.openPage(closing(''))
    const answer = await page.go({ method: 'POST', headers: forPerson, body: 'x' })
    expect(answer.text).toContain('closed the connection')
    expect(answer.text).not.toContain('<script>')
    expect(answer.text).not.toContain('ry again')
    expect(answer.text).toContain('send it again if not')
  })

  it('and a gateway cannot claim that its answer is a refusal of the hub', async () => {
    const page = await hub.openPage((_req, res) => res.writeHead(200, { 'X-Hub-Error': 'x' }).end())
    expect((await page.go()).headers).not.toHaveProperty('x-hub-error')
  })
})

describe('a request that no browser sends is refused', () => {
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
    const page = await hub.openPage((req, res) => {
      seen.push(req.url ?? '')
      req.resume().on('end', () => res.end('reached'))
    })
    const answer = await raw(
      hub.hubPort,
      `${line}\r\nHost: ${page.host}\r\nCookie: ${page.cookie}\r\nConnection: close\r\n${headers}\r\n${body}`,
    )
    expect(answer).toMatch(/^(HTTP\/1\.1 4\d\d|$)/)
    expect(answer).not.toContain('reached')
    // A faulty body may end a request that has begun; no other request may begin.
    expect(seen.length).toBeLessThanOrEqual(1)
    expect(seen).not.toContain('/x')
  })
})
