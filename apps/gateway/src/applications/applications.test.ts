import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { startFrigate } from '../../../../test/harness/frigate.ts'
import { startFixtureHub, type FixtureHub } from '../../testing/hub.ts'
import { startGateway, type Gateway } from '../gateway.ts'

const PATIENCE = { timeout: 60_000, interval: 20 }
const until = (check: () => void | Promise<void>) => vi.waitFor(check, PATIENCE)

const life = new AsyncDisposableStack()
let hub: FixtureHub
let gateway: Gateway
let filePath: string
/** The addresses of Frigate, the router, the application of `uiTarget` and an echo server. */
let urls: Record<'frigate' | 'router' | 'own' | 'echo', string>

async function startApplication(name: string): Promise<string> {
  const server = createServer(({ headers }, response) =>
    response.end(name === 'echo' ? JSON.stringify(headers) : name),
  ).listen(0, '127.0.0.1')
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.send(name))
  await once(server, 'listening')
  life.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const write = (applications: object) => writeFile(filePath, JSON.stringify({ applications }))

let written = 0
/** Resolves when these applications are in force: one more, under a new name, answers then. */
async function configure(applications: object): Promise<void> {
  const mark = `mark-${++written}`
  await write({ ...applications, [mark]: { url: urls.frigate } })
  await until(async () => expect((await application(mark)).status).toBe(200))
}

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-applications-'))
  life.defer(() => rm(dataDir, { recursive: true, force: true }))
  filePath = join(dataDir, 'gateway.yaml')
  const [frigate, router, own, echo] = await Promise.all(['frigate', 'router', 'own', 'echo'].map(startApplication))
  urls = { frigate: frigate!, router: router!, own: own!, echo: echo! }
  await write({ frigate: { url: urls.frigate, title: 'Frigate' }, router: { url: urls.router } })
  hub = await startFixtureHub()
  life.defer(hub.stop)
  gateway = await startGateway({
    name: 'Orchard',
    dataDir,
    host: '127.0.0.1',
    port: 0,
    hubUrl: hub.url,
    uiTarget: new URL(urls.own),
    log: pino({ level: 'silent' }),
  })
  life.defer(gateway.stop)
  await vi.waitUntil(() => hub.registrations.length === 1, PATIENCE)
  hub.decide({ status: 'approved' })
  await vi.waitUntil(() => hub.heartbeats.length > 1, PATIENCE)
})

afterAll(() => life.disposeAsync())

async function ask(port: number, headers: Record<string, string>) {
  const stream = hub.dial(port)
  const outgoing = request({ createConnection: () => stream, headers }).end()
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = await text(answer)
  stream.destroy()
  return { status: answer.statusCode, body }
}

const application = (name: string, headers = {}) => ask(8082, { 'x-hub-application': name, ...headers })

const WEB_SOCKET = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'eHh4eHh4eHh4eHh4eHh4eA==',
  'sec-websocket-version': '13',
}

/** A WebSocket after its first message, which names the application. */
async function openWebSocket(name: string, headers = {}) {
  const stream = hub.dial(8082)
  const asked = { ...WEB_SOCKET, 'x-hub-application': name, ...headers }
  const outgoing = request({ createConnection: () => stream, headers: asked }).end()
  const [, socket, head] = (await once(outgoing, 'upgrade')) as [unknown, typeof stream, Buffer]
  const said = head.length > 0 ? head : ((await once(socket, 'data')) as [Buffer])[0]
  return { socket, said: said.subarray(2).toString() }
}

describe('applications', () => {
  test('are listed to a hub that supports them, and to no other', () => {
    const [first, second] = hub.heartbeats
    expect(first).not.toHaveProperty('applications')
    expect(second?.applications).toEqual([
      { name: 'ui-target', title: new URL(urls.own).host, leastRole: 'user' },
      { name: 'frigate', title: 'Frigate', leastRole: 'user' },
      { name: 'router', title: 'router', leastRole: 'user' },
    ])
  })

  test.each([
    ['frigate', 200, 'frigate'],
    ['router', 200, 'router'],
    ['ui-target', 200, 'own'],
    ['device', 404, /no application/],
    ['frigate, router', 404, /no application/],
    ['__proto__', 404, /no application/],
    ['', 404, /no application/],
  ])('are reached by the name that the hub says: %j', async (name, status, body) => {
    expect(await application(name)).toEqual({ status, body: expect.stringMatching(body) as string })
  })

  test('take WebSockets, each its own', async () => {
    for (const name of ['frigate', 'router']) {
      const { socket, said } = await openWebSocket(name)
      expect(said).toBe(name)
      socket.destroy()
    }
  })

  test('are on no port of the local network, whatever a request says', async () => {
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/`, {
      headers: { 'x-hub-application': 'frigate' },
      redirect: 'manual',
    })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/device/'])
  })

  test('leave port 8080 to the device’s own interface, except for an older hub', async () => {
    expect((await ask(8080, { 'x-hub-application': 'device' })).status).toBe(302)
    expect(await ask(8080, {})).toEqual({ status: 200, body: 'own' })
  })

  test.each([
    ['localhost, the device’s own interface', (own: number) => `http://localhost:${own}`],
    ['127.0.0.1, the same', (own: number) => `http://127.0.0.1:${own}`],
  ])('cannot be at %s', async (_what, url) => {
    await write({ router: { url: url(gateway.port) } })
    await until(async () =>
      expect(await application('router')).toEqual({
        status: 502,
        body: expect.stringContaining('may not be an application: it is this device') as string,
      }),
    )
  })

  test('with their own certificates are reached only if the certificate has the configured fingerprint', async () => {
    const frigate = await startFrigate()
    life.defer(frigate.stop)
    const { secureUrl: url, certificateFingerprint } = frigate
    await write({ router: { url, certificateFingerprint } })
    await until(async () => expect((await application('router')).status).toBe(401))
    await write({ router: { url, certificateFingerprint: 'AB'.repeat(32) } })
    await until(async () =>
      expect(await application('router')).toEqual({
        status: 502,
        body: expect.stringContaining(certificateFingerprint.replaceAll(':', '')) as string,
      }),
    )
  })

  test('come and go with gateway.yaml, and the hub learns of it at once', async () => {
    await configure({ router: { url: urls.frigate } })
    expect(await application('router')).toEqual({ status: 200, body: 'frigate' })
    expect((await application('frigate')).status).toBe(404)
    const names = () => hub.heartbeats.at(-1)?.applications?.map(({ name }) => name)
    await until(() => expect(names()).toEqual(['ui-target', 'router', `mark-${written}`]))
  })

  test('open for their least role and above, whatever hub asks; a missing role counts as the least', async () => {
    await configure({ router: { url: urls.router, leastRole: 'manager' } })
    const statusFor = async (role?: string) =>
      (await application('router', role === undefined ? {} : { 'x-hub-user': 'ada', 'x-hub-role': role })).status
    expect(await Promise.all(['manager', 'admin', 'user', 'owner', '', undefined].map(statusFor))).toEqual([
      200, 200, 403, 403, 403, 403,
    ])
    expect((await application('router', { ...WEB_SOCKET, 'x-hub-role': 'user' })).status).toBe(403)
    await until(() => expect(hub.heartbeats.at(-1)?.applications?.at(1)).toMatchObject({ leastRole: 'manager' }))
  })

  test.each([
    ['is removed', {}],
    ['moves', { url: () => urls.frigate }],
    ['takes a higher role', { url: () => urls.router, leastRole: 'admin' }],
  ])('end open WebSockets when one %s, and leave those of others', async (_what, changed) => {
    const own = { url: urls.own }
    await configure({ router: { url: urls.router }, other: own })
    const open = await openWebSocket('router', { 'x-hub-role': 'manager' })
    const other = await openWebSocket('other')
    let isEnded = false
    open.socket.once('close', () => (isEnded = true))
    await configure({ other: own, ...('url' in changed && { router: { ...changed, url: changed.url() } }) })
    await until(() => expect(isEnded).toBe(true))
    expect(other.socket.destroyed).toBe(false)
    other.socket.destroy()
  })

  test('that trust this gateway learn who asks by headers of their map, which replace those of browsers', async () => {
    await configure({
      grafana: {
        url: urls.echo,
        headerMap: {
          user: 'X-WEBAUTH-USER',
          role: 'X-WEBAUTH-ROLE',
          roles: { admin: 'Admin', manager: 'Editor' },
          secret: { header: 'x-proxy', value: 'between us' },
        },
      },
      router: { url: urls.echo },
    })
    const forged = { 'x-webauth-user': 'root', x_webauth_role: 'Admin', 'x-proxy': 'guess' }
    const told = async (name: string, role: string) =>
      JSON.parse((await application(name, { ...forged, 'x-hub-user': 'ada', 'x-hub-role': role })).body) as object
    for (const [role, theirs] of [
      ['admin', 'Admin'],
      ['manager', 'Editor'],
      ['user', 'user'],
      ['odd', 'user'],
    ] as const) {
      const headers = await told('grafana', role)
      expect(headers).toMatchObject({ 'x-webauth-user': 'ada', 'x-webauth-role': theirs, 'x-proxy': 'between us' })
      expect(headers).not.toHaveProperty('x_webauth_role')
    }
    expect(await told('router', 'admin')).not.toMatchObject({ 'x-proxy': 'between us' })
  })
})
