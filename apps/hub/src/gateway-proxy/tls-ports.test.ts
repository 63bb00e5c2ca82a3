import { once } from 'node:events'
import { connect as tlsConnect } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { send, freeRange, startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'

/** Ports of a hub that is opened over https. */
let hub: TestGatewayUi
afterEach(() => hub.stop())

async function start(config: { publicUrl?: string } = {}) {
  hub = await startGatewayUi({
    https: true,
    config: { gatewayUi: { ports: await freeRange(2), origin: undefined }, ...config },
  })
  const { caller } = await hub.signIn()
  const gateway = await hub.addGateway((req, res) =>
    res
      .writeHead(200, { 'set-cookie': ['sid=1', 'own=2; Secure; Path=/x'] })
      .end([req.headers['x-forwarded-proto'], req.headers.host, req.headers.cookie].join(' ')),
  )
  const open = (scheme: 'http' | 'https', host = `127.0.0.1:${scheme === 'https' ? hub.httpsPort : hub.hubPort}`) =>
    hub.open(caller, gateway.id, host, undefined, { scheme })
  return { caller, gateway, open }
}

describe('over https', () => {
  it.each(['127.0.0.1', 'localhost', 'hub.test', '[fd00::5]'])(
    'a hub opened at %s hands over to the gateway’s port with the hub’s certificate',
    async (name) => {
      const { gateway, open } = await start()
      const page = await open('https', `${name}:${hub.httpsPort}`)
      expect(page.origin).toBe(`https://${name}:${page.port}`)
      expect(page.handover.headers['set-cookie']).toEqual([
        expect.stringMatching(
          new RegExp(`^__Host-gws_${gateway.id}=[\\w-]{32}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=3600$`),
        ),
      ])
      const answer = await page.go({ headers: { cookie: `${page.cookie}; __Secure-g${gateway.id}.sid=1; sid=2` } })
      expect(answer.text).toBe(`https ${name}:${page.port} sid=1`)
      expect(answer.headers['set-cookie']).toEqual([
        `__Secure-g${gateway.id}.sid=1; Secure`,
        `__Secure-g${gateway.id}.own=2; Secure; Path=/x`,
      ])
      expect(answer.headers['strict-transport-security']).toBeUndefined()
    },
  )

  it('one port serves both schemes, and a session of one is none of the other', async () => {
    const { open } = await start()
    const [secure, plain] = [await open('https'), await open('http')]
    expect(secure.port).toBe(plain.port)
    expect((await plain.go()).text).toMatch(/^http /)
    expect((await secure.go()).text).toMatch(/^https /)
    for (const isTls of [true, false])
      for (const token of [secure, plain].map(({ cookie }) => cookie.slice(cookie.indexOf('=') + 1)))
        for (const name of [secure, plain].map(({ cookie }) => cookie.slice(0, cookie.indexOf('=')))) {
          const { status } = await send(plain.port, plain.host, { isTls, headers: { cookie: `${name}=${token}` } })
          const own = isTls ? secure.cookie : plain.cookie
          expect([isTls, name, status]).toEqual([isTls, name, `${name}=${token}` === own ? 200 : 401])
        }
  })

  it('a ticket for https is not redeemed in clear text', async () => {
    const { caller, gateway } = await start()
    const host = `127.0.0.1:${hub.httpsPort}`
    const origin = `https://${host}`
    const { action, ticket } = await hub.ui.issueTicket(caller, { gatewayId: gateway.id }, { host, origin })
    const url = new URL(action)
    const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' }
    const posted = await send(Number(url.port), url.host, {
      method: 'POST',
      path: url.pathname,
      headers,
      body: `ticket=${ticket}`,
    })
    expect(JSON.parse(posted.text).error).toBe('ticket_invalid')
    expect(posted.headers['set-cookie']).toBeUndefined()
  })

  it.each([
    [
      'the hub at the same host and scheme',
      undefined,
      () => `https://127.0.0.1:${hub.httpsPort}`,
      () => `http://127.0.0.1:${hub.hubPort}`,
    ],
    [
      'the public address where it is this one',
      'https://127.0.0.1',
      () => 'https://127.0.0.1',
      () => `http://127.0.0.1:${hub.hubPort}`,
    ],
    [
      'no public address of another host',
      'https://hub.example.org',
      () => `https://127.0.0.1:${hub.httpsPort}`,
      () => `http://127.0.0.1:${hub.hubPort}`,
    ],
  ])('a person without a session is sent to %s', async (_what, publicUrl, secureHub, plainHub) => {
    const { gateway, open } = await start(publicUrl === undefined ? {} : { publicUrl })
    const { port, host } = await open('https', publicUrl === 'https://127.0.0.1' ? '127.0.0.1' : undefined)
    const behind = async (isTls: boolean) =>
      (await send(port, host, { isTls, headers: { accept: 'text/html' } })).headers.location
    expect(await behind(true)).toBe(`${secureHub()}/proxy/gateway/${gateway.id}`)
    expect(await behind(false)).toBe(`${plainHub()}/proxy/gateway/${gateway.id}`)
  })

  it('a person at a name of localhost, too, is sent back with the scheme', async () => {
    const { gateway } = await start()
    const host = `gw-${gateway.id}.localhost:${hub.httpsPort}`
    const answer = await send(hub.httpsPort!, host, { isTls: true, headers: { accept: 'text/html' } })
    expect(answer.headers.location).toBe(`https://localhost:${hub.httpsPort}/proxy/gateway/${gateway.id}`)
  })

  it('a WebSocket passes from the gateway’s own page only', async () => {
    const { caller } = await start()
    const echo = await hub.addGateway((_req, res) => res.end())
    echo.server.on('upgrade', (_req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      socket.pipe(socket)
    })
    const page = await hub.open(caller, echo.id, `127.0.0.1:${hub.httpsPort}`, undefined, { scheme: 'https' })
    const dial = async (origin: string) => {
      const socket = tlsConnect({ port: page.port, host: '127.0.0.1', rejectUnauthorized: false })
      socket.write(
        `GET /socket HTTP/1.1\r\nHost: ${page.host}\r\nOrigin: ${origin}\r\nCookie: ` +
          `${page.cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: ` +
          `13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      )
      const [head] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return head.toString().slice(0, 12)
    }
    expect(await dial(page.origin)).toBe('HTTP/1.1 101')
    expect(await dial(page.origin.replace('https:', 'http:'))).toBe('HTTP/1.1 403')
    expect(await dial(`https://127.0.0.1:${hub.httpsPort}`)).toBe('HTTP/1.1 403')
  })

  it('service workers are refused as at every port', async () => {
    const { open } = await start()
    const { go } = await open('https')
    expect((await go({ headers: { 'service-worker': 'script' } })).status).toBe(403)
  })
})

describe('with HUB_HTTPS_PORT=off', () => {
  it('a hub behind a proxy with TLS says what to set, and its ports have no TLS', async () => {
    hub = await startGatewayUi({ config: { gatewayUi: { ports: await freeRange(1), origin: undefined } } })
    const { caller } = await hub.signIn()
    const gateway = await hub.addGateway((_req, res) => res.end('page'))
    const host = 'hub.example.org'
    await expect(
      hub.ui.issueTicket(caller, { gatewayId: gateway.id }, { host, origin: `https://${host}` }),
    ).rejects.toMatchObject({ code: 'gateway_origin_required' })
    const { port } = await hub.open(caller, gateway.id, `127.0.0.1:${hub.hubPort}`)
    await expect(send(port, `127.0.0.1:${port}`, { isTls: true })).rejects.toThrow(/wrong version number|packet length/)
  })
})

describe('the other way', () => {
  it.each([
    ['localhost', 'names', 'ports'],
    ['127.0.0.1', 'ports', 'names'],
  ] as const)('from http://%s is named, and taken when asked for', async (name, first, second) => {
    const { caller, gateway } = await start()
    const host = `${name}:${hub.hubPort}`
    const issue = (way?: 'names' | 'ports') =>
      hub.ui.issueTicket(caller, { gatewayId: gateway.id, way }, { host, origin: `http://${host}` })
    const [asItIs, asked] = [await issue(), await issue(second)]
    expect([asItIs.otherWay, asked.otherWay]).toEqual([second, first])
    expect(new URL(asItIs.action).hostname.endsWith('.localhost')).toBe(first === 'names')
    expect(new URL(asked.action).hostname.endsWith('.localhost')).toBe(second === 'names')
    for (const way of [first, second]) {
      const page = await hub.open(caller, gateway.id, host, undefined, { way })
      expect((await page.go()).status).toBe(200)
    }
  })

  it.each(['https://localhost', 'http://192.168.1.5', 'https://hub.test'])('from %s there is none', async (origin) => {
    const { caller, gateway } = await start()
    const { host } = new URL(origin)
    const issued = await hub.ui.issueTicket(caller, { gatewayId: gateway.id, way: 'names' }, { host, origin })
    expect(issued.otherWay).toBeNull()
  })
})

it('a page of the hub learns that its browser reaches a gateway’s origin, and nothing else', async () => {
  const { open, gateway } = await start()
  const { port, host } = await open('https')
  const asks = [
    [hub.hubPort, `gw-${gateway.id}.${hub.hubHost}`, false],
    [port, host, false],
    [port, host, true],
  ] as const
  for (const [at, name, isTls] of asks) {
    const { status, text, headers } = await send(at, name, { path: '/__hub/reach', isTls })
    expect([status, text, headers['access-control-allow-origin'], headers['set-cookie']]).toEqual([
      204,
      '',
      '*',
      undefined,
    ])
    expect((await send(at, name, { method: 'POST', path: '/__hub/reach', isTls })).status).toBe(404)
  }
})
