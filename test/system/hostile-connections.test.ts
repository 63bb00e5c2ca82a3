import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createApiAs } from '../harness/api-client.ts'
import { freeTcpPort } from '../harness/free-ports.ts'
import { openGatewayUi } from '../harness/gateway-ui-client.ts'
import { startHub, type Hub } from '../harness/hub.ts'
import { NGINX_ADDRESS, startNginx } from '../harness/nginx.ts'
import { joinPlayedGateway } from '../harness/played-gateway.ts'
import { skipWithout } from '../harness/privileges.ts'
import { waitFor } from '../harness/wait-for.ts'

/** Attacks by a stranger or a gateway on a whole running hub: through each of its listeners, and through a proxy. */

const UPGRADE =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eHh4\r\n\r\n'
const get = (host: string) => `GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`
const upgrade = (host: string) => `GET / HTTP/1.1\r\nHost: ${host}\r\n${UPGRADE}`

const hasNoNginx = skipWithout('a hub behind a reverse proxy', 'command nginx')

let hub: Hub
let gateway: Awaited<ReturnType<typeof joinPlayedGateway>>
let nginx: Awaited<ReturnType<typeof startNginx>> | undefined
let page: Awaited<ReturnType<typeof openGatewayUi>>
let ports: { http: number; https: number; metrics: number; gateway: number }
/** The gateway's answer to every connection, as bytes. */
let answer = ''
const streams = new Set<Duplex>()
const clients: Socket[] = []

beforeAll(async () => {
  const [https, metrics] = [await freeTcpPort(), await freeTcpPort()]
  hub = await startHub({
    env: {
      HUB_HTTPS_PORT: String(https),
      HUB_METRICS_PORT: String(metrics),
      HUB_MAX_CONNECTIONS_PER_ADDRESS: '40',
      HUB_TRUSTED_PROXIES: NGINX_ADDRESS,
    },
  })
  gateway = await joinPlayedGateway(hub, (stream) => {
    streams.add(stream)
    stream.once('close', () => streams.delete(stream))
    stream.on('data', () => stream.write(answer, 'latin1'))
  })
  page = await openGatewayUi(hub.url, hub.api, gateway.id)
  const byAddress = hub.url.replace('localhost', '127.0.0.1')
  const { origin } = await openGatewayUi(byAddress, createApiAs(byAddress, hub.admin), gateway.id)
  ports = { http: hub.port, https, metrics, gateway: Number(new URL(origin).port) }
  if (!hasNoNginx) nginx = await startNginx(hub.port)
})

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy()
  for (const stream of streams) stream.destroy()
})

afterAll(async () => {
  await nginx?.stop()
  await gateway?.stop()
  await hub?.stop()
})

/** After every attack the hub runs and serves, and its last guard caught nothing. */
const UNHARMED = { hasEnded: false, faults: 0 }
async function stateOfHub() {
  const hasEnded = hub.process().hasEnded()
  await waitFor(async () => hasEnded || (await fetch(`${hub.url}/readyz`)).ok, { for: 'the hub to serve' })
  return { hasEnded, faults: hasEnded ? undefined : await metric('hedgerow_connection_faults_total') }
}

/** The sum of a metric over its labels. */
async function metric(name: string): Promise<number> {
  const lines = (await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text()).split('\n')
  const own = lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
  return own.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

type Entrance = 'HTTP' | 'HTTPS' | 'the port of a gateway' | 'a reverse proxy'

/** A client that keeps its half of the connection open. `below` is the TCP connection, also for TLS. */
async function dial(way: Entrance, from = '127.0.0.1') {
  const port = {
    HTTP: ports.http,
    HTTPS: ports.https,
    'the port of a gateway': ports.gateway,
    'a reverse proxy': nginx?.port ?? 0,
  }[way]
  const below = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true })
  below.on('error', () => {})
  clients.push(below)
  await once(below, 'connect')
  let socket: Socket = below
  if (way === 'HTTPS') {
    socket = connectTls({ socket: below, rejectUnauthorized: false })
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
  }
  return { socket, below, host: way === 'the port of a gateway' ? `127.0.0.1:${port}` : `localhost:${ports.http}` }
}

const ways: Entrance[] = ['HTTP', 'HTTPS', 'the port of a gateway', 'a reverse proxy']

describe.each(ways)('through %s', (way) => {
  const isSkipped = way === 'a reverse proxy' && hasNoNginx

  describe.skipIf(isSkipped).each<[string, (host: string) => string]>([
    ['an upgrade', upgrade],
    ['a GET and an upgrade', (host) => get(host) + upgrade(host)],
    ['an upgrade and a GET', (host) => upgrade(host) + get(host)],
    ['twenty GETs and upgrades', (host) => (get(host) + upgrade(host)).repeat(20)],
    ['CONNECT', (host) => `CONNECT a:1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ])('%s', (_what, bytes) => {
    test('may be reset at once, or at the first byte of an answer', async () => {
      for (let round = 0; round < 10; round++) {
        const { socket, below, host } = await dial(way)
        const ended = new Promise((resolve) => below.once('close', resolve))
        socket.write(bytes(host))
        if (round % 2 === 0) await Promise.race([once(socket, 'data'), once(socket, 'end'), ended])
        below.resetAndDestroy()
      }
      expect(await stateOfHub(), hub.output()).toEqual(UNHARMED)
    })
  })

  test.skipIf(isSkipped)('a GET and an upgrade in one piece get one answer each, in their order', async () => {
    const { socket, host } = await dial(way)
    let received = ''
    socket.on('data', (data: Buffer) => (received += data.toString('latin1')))
    socket.write(get(host) + upgrade(host))
    const statuses = () => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)
    await waitFor(() => statuses().length === 2, { for: 'two answers' })
    // At a gateway's port the upgrade is read after the first answer, so it is refused like any without a session.
    expect(statuses()).toEqual(way === 'the port of a gateway' ? ['401', '401'] : ['200', '404'])
    expect(await stateOfHub(), hub.output()).toEqual(UNHARMED)
  })

  test.skipIf(isSkipped).each(['x:99999', 'x:-1', '[::1', 'a b', 'x:1:2', '', '\x01'])(
    'Host: %j gets an answer, and not an internal error of the hub',
    async (host) => {
      const { socket } = await dial(way)
      socket.write(`GET /api/v1/auth/validate HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, 'latin1')
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect(await stateOfHub(), hub.output()).toEqual(UNHARMED)
    },
  )

  // nginx answers this itself.
  if (way === 'a reverse proxy') return
  test('a refusal ends the connection although the client keeps its half open', async () => {
    const { socket, below } = await dial(way)
    socket.resume().write('what is this?\r\n\r\n')
    await once(socket, 'end')
    // A write to a connection that the other side has closed is answered by a reset.
    await waitFor(() => below.destroyed || !below.write('x'.repeat(1_000)), { for: 'a reset' })
    expect(await stateOfHub(), hub.output()).toEqual(UNHARMED)
  })
})

describe("a gateway's answer", () => {
  const agreed = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  test.each([
    ['a control character in its reason phrase', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n'],
    ['status 000', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n'],
    ['status 000 and an agreement', `HTTP/1.1 000 OK\r\n${agreed}`],
    ['status 101 without a protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['status 999', 'HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n'],
    ['interim answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500)],
  ])('%s becomes 502, for a request and for a WebSocket', async (_what, bytes) => {
    answer = bytes
    expect((await page.send('/x')).status).toBe(502)
    const { socket } = await dial('HTTP')
    const session = `Host: ${new URL(page.origin).host}\r\nOrigin: ${page.origin}\r\nCookie: ${page.cookie}\r\n`
    socket.write(`GET /x HTTP/1.1\r\n${session}${UPGRADE}`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 502 /)
    expect(await stateOfHub(), hub.output()).toEqual(UNHARMED)
  })
})

test('connections of one address above its limit are closed and counted, also unfinished TLS handshakes', async () => {
  const before = await metric('hedgerow_connections_refused_total')
  for (let i = 0; i < 100; i++) {
    const port = i % 2 ? ports.https : ports.http
    clients.push(connect({ port, host: '127.0.0.1', localAddress: '127.0.0.3' }).on('error', () => {}))
  }
  await waitFor(async () => (await metric('hedgerow_connections_refused_total')) >= before + 60, { for: 'refusals' })
  expect((await fetch(`${hub.url}/readyz`)).ok, 'from another address').toBe(true)
  expect(hub.output()).toContain('connections are refused: too many are open')
})
