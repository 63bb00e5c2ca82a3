import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createFaults } from '@hedgerow/http'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { openDevice, type Device } from '../device.ts'
import { createTrials } from '../cameras/trials.ts'
import { createEditor } from '../device-file/editor.ts'
import { createDetector } from './device-ui/detector.ts'
import { createDeviceUi } from './device-ui/device-ui.ts'
import { createSessions } from './device-ui/sessions.ts'
import type { GatewayState } from '../hub/gateway-state.ts'
import { createConditions } from '../kernel/conditions.ts'
import { openPassword } from '../kernel/password.ts'
import { openUpdates } from '../update/updates.ts'
import { createLocalUi } from './local-ui.ts'
import { openLocalUiServer, type LocalUiServer } from './local-ui-server.ts'

const HUB_ORIGIN = 'https://hub.example.net'
const closers: (() => Promise<unknown> | void)[] = []
const life = new AsyncDisposableStack()
let dataDir: string
let device: Device

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'hedgerow-local-ui-'))
  life.defer(() => rm(dataDir, { recursive: true }))
  await mkdir(join(dataDir, 'built', 'assets'), { recursive: true })
  await writeFile(join(dataDir, 'built', 'index.html'), '<!doctype html>')
  await writeFile(join(dataDir, 'built', 'assets', 'main-abc.js'), 'plain')
  await writeFile(join(dataDir, 'built', 'assets', 'main-abc.js.gz'), 'zipped')
  await writeFile(join(dataDir, 'built', '.secret'), 'secret')
  const filePath = join(dataDir, 'gateway.yaml')
  device = await openDevice({ dataDir, filePath, log: pino({ level: 'silent' }) }, life)
})

afterAll(() => life.disposeAsync())

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function stateOf(changed: Partial<GatewayState> = {}): GatewayState {
  const conditions = createConditions(
    () => {},
    () => Date.parse('2026-05-01T10:00:00.000Z'),
  )
  conditions.done('hubFound', 'https://hub.example.net, by its address')
  conditions.failed('registered', 'no <answer> in time')
  return {
    name: 'Orchard <gate>',
    location: '',
    version: '1.2.3',
    deviceToken: 'DT-0123456789AB',
    fingerprint: 'ABCD EFGH IJKL MNOP QRST UVWX YZ23 4567',
    hubFingerprint: 'HHHH HHHH HHHH HHHH HHHH HHHH HHHH HHHH',
    hubUrl: HUB_ORIGIN,
    claimUrl: `${HUB_ORIGIN}/gateways?token=DT-0123456789AB`,
    gatewayId: 'abcdefghijkl',
    vpnAddress: '10.100.0.2',
    conditions: conditions.conditions(),
    detectionsWaiting: 0,
    detectionsDropped: 0,
    ...changed,
  }
}

/** Errors that reached the last guard. */
const faulty: unknown[] = []

async function openLocalUi(uiTarget?: URL, state = stateOf(), uiOnLan = true): Promise<LocalUiServer> {
  const faults = createFaults({ report: (error) => faulty.push(error) })
  const { record, pictures, deterrents, learning, parts, file } = device
  const editor = createEditor(join(dataDir, 'gateway.yaml'), { known: device.knownNames })
  const sessions = createSessions(await openPassword(dataDir), { port: () => 0 })
  const folder = join(dataDir, 'built')
  const log = pino({ level: 'silent' })
  const updates = await openUpdates(undefined, {
    dataDir,
    settings: () => file.current().updates,
    place: () => file.current().site,
    isBusy: () => false,
    deviceFile: join(dataDir, 'gateway.yaml'),
    parts: () => ({ ...parts(), ...deterrents.guarding(), waiting: 0 }),
    restart: () => {},
    log,
  })
  const deviceUi = createDeviceUi({
    state: () => state,
    updates: updates.report,
    parts,
    record,
    pictures,
    deterrents,
    learning,
    sources: device.sources,
    trials: createTrials(log),
    detector: createDetector({ dataDir, editor, download: async () => Promise.reject(new Error('no hub')), log }),
    file,
    editor,
    sessions,
    folder,
    log,
  })
  const localUi = createLocalUi({
    applications: { trusting: () => undefined, isFor: () => true },
    health: () => ({ status: 'ok', gatewayId: state.gatewayId, version: state.version, uptimeSeconds: 7 }),
    allowedOrigins: () => [HUB_ORIGIN],
    uiTarget,
    ownPort: () => undefined,
    uiOnLan,
    localApi: { owns: () => false, handle: async () => {} },
    deviceUi,
    faults,
    log,
  })
  const server = await openLocalUiServer(localUi, faults, { host: '127.0.0.1', port: 0 })
  closers.push(server.stop)
  return server
}

async function openApplication(listener: RequestListener): Promise<{ url: URL; server: Server }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), server }
}

type TestRequest = { method?: string; headers?: Record<string, string>; body?: string }

async function ask(server: LocalUiServer, path: string, { method = 'GET', headers = {}, body }: TestRequest = {}) {
  const outgoing = request({ host: '127.0.0.1', port: server.port, path, method, headers, agent: false })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

describe('the health of a gateway', () => {
  test('names the gateway; of other origins, only the hub’s pages may read it', async () => {
    const server = await openLocalUi()
    const own = await ask(server, '/api/health', { headers: { origin: HUB_ORIGIN } })
    expect(JSON.parse(own.text)).toEqual({
      status: 'ok',
      gatewayId: 'abcdefghijkl',
      version: '1.2.3',
      uptimeSeconds: 7,
    })
    expect(own.headers['access-control-allow-origin']).toBe(HUB_ORIGIN)
    expect(own.headers['vary']).toBe('Origin')
    const strange = await ask(server, '/api/health', { headers: { origin: 'https://hub.example.net.evil.example' } })
    expect(strange.headers['access-control-allow-origin']).toBeUndefined()
    expect((await ask(server, '/api/health', { method: 'OPTIONS', headers: { origin: HUB_ORIGIN } })).status).toBe(204)
    expect((await ask(server, '/api/health', { method: 'DELETE' })).status).toBe(405)
  })
})

describe('the device page', () => {
  test('shows token, fingerprints and conditions, and escapes every text', async () => {
    const { status, headers, text: page } = await ask(await openLocalUi(), '/device/')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    for (const shown of [
      'DT-0123456789AB',
      'ABCD EFGH',
      'HHHH HHHH',
      'Orchard &#60;gate&#62;',
      'no &#60;answer&#62; in time',
    ])
      expect(page).toContain(shown)
    for (const label of ['Hub found', 'Registered', 'Approved', 'Tunnel up', 'Heartbeat acknowledged'])
      expect(page).toContain(label)
    expect(page).toContain('2026-05-01 10:00:00 UTC')
    expect(page).not.toMatch(/<gate>|<answer>|<script>|style=/)
  })

  test('refreshes itself with its own files, under a policy without inline scripts', async () => {
    const server = await openLocalUi()
    const { headers } = await ask(server, '/device/')
    expect(headers['content-security-policy']).toContain("script-src 'self';")
    expect(headers['content-security-policy']).toContain("style-src 'self';")
    expect((await ask(server, '/device/device.js')).headers['content-type']).toContain('text/javascript')
    expect((await ask(server, '/device/device.css')).headers['content-type']).toContain('text/css')
    expect(JSON.parse((await ask(server, '/device/api/state')).text)).toEqual(stateOf())
    expect((await ask(server, '/device/qr.svg')).text).toMatch(/^<svg.*<path/s)
  })

  test('has no QR code before the hub is found', async () => {
    const state = stateOf({ claimUrl: null, hubUrl: null, hubFingerprint: null })
    expect((await ask(await openLocalUi(undefined, state), '/device/')).text).toMatch(/class="code"[^>]* hidden/)
  })

  test('cannot be read by pages of other origins, not even the hub’s', async () => {
    const server = await openLocalUi()
    for (const path of ['/device/', '/device/api/state', '/device/qr.svg']) {
      const { headers } = await ask(server, path, { headers: { origin: HUB_ORIGIN } })
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(headers['cross-origin-resource-policy']).toBe('same-origin')
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
    }
  })

  test.each([
    ['192.0.2.7:8080', 200],
    ['[2001:db8::7]:8080', 200],
    ['gate', 200],
    ['gate.local:8080', 200],
    ['localhost', 200],
    ['rebound.evil.example', 421],
    ['local.evil.example:8080', 421],
    ['192.0.2.7.evil.example', 421],
  ])('asked for as %s it answers %i', async (host, status) => {
    expect((await ask(await openLocalUi(), '/device/api/state', { headers: { host } })).status).toBe(status)
  })

  test.each([
    '/nothing',
    '/device/nothing',
    '/device/constructor',
    '/device/__proto__',
    '/device/../package.json',
    '/device/assets/../../record.sqlite',
    '/device/device.css/../device.js',
    '/device/api/v1',
  ])('%s is not found', async (path) => {
    expect((await ask(await openLocalUi(), path)).status).toBe(404)
  })
})

describe('the built pages', () => {
  test('are served as they are, or as the compressed copy that the browser accepts', async () => {
    const server = await openLocalUi()
    const script = '/device/assets/main-abc.js'
    const plain = await ask(server, script)
    expect([plain.status, plain.text, plain.headers['content-encoding']]).toEqual([200, 'plain', undefined])
    expect(plain.headers['cache-control']).toContain('immutable')
    const zipped = await ask(server, script, { headers: { 'accept-encoding': 'br;q=0, gzip' } })
    expect([zipped.text, zipped.headers['content-encoding']]).toEqual(['zipped', 'gzip'])
    const refused = await ask(server, script, { headers: { 'accept-encoding': 'gzip;q=0' } })
    expect(refused.text).toBe('plain')
    expect((await ask(server, script, { method: 'HEAD' })).text).toBe('')
    expect((await ask(server, '/device/rules')).text).toBe('<!doctype html>')
    for (const hidden of ['/device/.secret', `${script}.gz`, '/device/assets', '/device/assets/'])
      expect([hidden, (await ask(server, hidden)).status]).toEqual([hidden, 404])
  })
})

test('an upgrade that no handler takes is refused, and a reset of that connection does no harm', async () => {
  const server = await openLocalUi()
  for (let round = 0; round < 10; round++) {
    const socket = connect(server.port, '127.0.0.1')
    socket.write('GET /live HTTP/1.1\r\nHost: gate\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /)
    socket.write('more')
    socket.resetAndDestroy()
  }
  expect((await ask(server, '/api/health')).status).toBe(200)
})

describe("the device's own application", () => {
  test.each([
    ['switches protocols unasked', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['says nothing and ends', ''],
  ])('that %s is answered with 502', async (_what, answer) => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answer))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => void server.close())
    const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const localUi = await openLocalUi(target)
    const response = await fetch(`http://127.0.0.1:${localUi.port}/anything`)
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('does not answer')])
  })

  test('gets repeatable requests on kept connections, also when one just died, and others on their own', async () => {
    const served: string[] = []
    const server = createTcpServer((socket) => {
      let count = 0
      socket.on('error', () => {})
      socket.on('data', (bytes: Buffer) => {
        const [line = ''] = bytes.toString().split(' HTTP/')
        served.push(`${line} as ${++count}`)
        const body = `${line} as ${count}`
        if (count === 3) socket.destroy()
        else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => void server.close())
    const localUi = await openLocalUi(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
    const negotiating = { headers: { authorization: 'Negotiate x' } }
    const answers: string[] = []
    for (const asked of [{}, {}, { method: 'POST', body: 'x' }, { method: 'POST' }, negotiating, { method: 'DELETE' }])
      answers.push((await ask(localUi, '/', asked)).text)
    expect(answers).toEqual(['GET / as 1', 'GET / as 2', 'POST / as 1', 'POST / as 1', 'GET / as 1', 'DELETE / as 1'])
    expect(served).toEqual([...answers.slice(0, 5), 'DELETE / as 3', 'DELETE / as 1'])
  })

  test('gets the trailers of a request, without those that say who asks', async () => {
    const { url } = await openApplication((incoming, response) => {
      void text(incoming).then((body) => response.end(JSON.stringify([body, incoming.trailers])))
    })
    const server = await openLocalUi(url)
    const outgoing = request({ host: '127.0.0.1', port: server.port, method: 'PUT', path: '/file', agent: false })
    outgoing.write('whole')
    outgoing.addTrailers({ checksum: '7', 'x-hub-user': 'root' })
    outgoing.end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(JSON.parse(await text(answer))).toEqual(['whole', { checksum: '7' }])
  })

  test('gets every request except the gateway’s own, with its own Host; the device page moves to /device', async () => {
    const seen: IncomingMessage[] = []
    const { url } = await openApplication((incoming, response) => {
      seen.push(incoming)
      response.setHeader('connection', 'close, x-private')
      response.setHeader('x-private', 'of this hop')
      response.setHeader('location', `${url.origin}/next`)
      response.end(`app ${incoming.url}`)
    })
    const server = await openLocalUi(url)
    const answer = await ask(server, '/api/state?x=1', {
      headers: { host: 'gate.local', origin: 'http://gate.local', te: 'trailers', 'x-forwarded-host': 'evil' },
    })
    expect(answer.text).toBe('app /api/state?x=1')
    expect(answer.headers['location']).toBe('/next')
    expect(answer.headers['x-private']).toBeUndefined()
    expect(seen[0]!.headers).toMatchObject({ host: url.host, origin: url.origin })
    expect(seen[0]!.headers['te']).toBeUndefined()
    expect(await ask(server, '/device')).toMatchObject({ status: 302, headers: { location: '/device/' } })
    expect((await ask(server, '/device/')).text).toContain('DT-0123456789AB')
    expect((await ask(server, '/device/api/state')).status).toBe(200)
    expect(JSON.parse((await ask(server, '/api/health')).text)).toMatchObject({ status: 'ok' })
    expect(seen.length).toBe(1)
  })

  test('sees Host, Origin and X-Forwarded-Host agree if there is an Origin, and else the visitor’s host', async () => {
    const seen: IncomingHttpHeaders[] = []
    const { url } = await openApplication((incoming, response) => {
      seen.push(incoming.headers)
      response.end()
    })
    const server = await openLocalUi(url)
    const visited = { host: 'gate.local', 'x-forwarded-host': 'evil', 'x-forwarded-proto': 'https' }
    const ours = { 'x-forwarded-host': url.host, 'x-forwarded-proto': 'http', host: url.host, origin: url.origin }
    await ask(server, '/', { headers: { ...visited, origin: 'http://gate.local' } })
    expect(seen[0]).toMatchObject(ours)
    await ask(server, '/', { headers: visited })
    expect(seen[1]).toMatchObject({ 'x-forwarded-host': 'gate.local', 'x-forwarded-proto': 'http', host: url.host })
    const foreign = { origin: 'http://gate.local.evil' }
    await ask(server, '/', { headers: { ...visited, ...foreign } })
    expect(seen[2]).toMatchObject({ ...foreign, 'x-forwarded-host': 'gate.local', host: url.host })
  })

  test('gets addresses of its own pages and files as its own, as WebDAV and checks of Referer need it', async () => {
    const seen: IncomingMessage[] = []
    const { url } = await openApplication((incoming, response) => {
      seen.push(incoming)
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.setHeader('content-location', `${url.origin}/moved`)
      response.addTrailers({ checksum: '7', 'set-cookie': 'a=1' })
      response.write('mo')
      response.end('ved')
    })
    const own = 'http://gate.local/files'
    const headers = { host: 'gate.local', referer: `${own}/`, destination: `${own}/b`, if: `<${own}/b> (<urn:uuid:1>)` }
    const server = await openLocalUi(url)
    const outgoing = request({ port: server.port, host: '127.0.0.1', method: 'MOVE', path: '/files/a', headers }).end()
    const hinted = once(outgoing, 'information') as Promise<[{ headers: IncomingHttpHeaders }]>
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(await text(answer)).toBe('moved')
    expect((await hinted)[0].headers).toEqual({ link: '</style.css>; rel=preload' })
    expect(answer.headers['content-location']).toBe('/moved')
    expect(answer.trailers).toEqual({ checksum: '7' })
    const at = `${url.origin}/files`
    expect(seen[0]!.headers).toMatchObject({
      referer: `${at}/`,
      destination: `${at}/b`,
      if: `<${at}/b> (<urn:uuid:1>)`,
    })
    const elsewhere = { destination: 'http://gate.local.evil/files/b', referer: 'http://evil/?http://gate.local/' }
    await ask(server, '/', { headers: { host: 'gate.local', ...elsewhere } })
    expect(seen[1]!.headers).toMatchObject(elsewhere)
  })

  test('gets the caller’s address from the hub only, never from the local network', async () => {
    const seen: IncomingMessage[] = []
    const { url } = await openApplication((incoming, response) => {
      seen.push(incoming)
      response.end()
    })
    const claims = { 'x-hub-user': 'root', X_Hub_Role: 'admin', forwarded: 'for=192.0.2.1', 'x-real-ip': '192.0.2.1' }
    await ask(await openLocalUi(url), '/', { headers: claims })
    for (const name of Object.keys(claims)) expect(seen[0]!.headers).not.toHaveProperty(name.toLowerCase())
    expect(seen[0]!.headers['x-forwarded-for']).toMatch(/127\.0\.0\.1$/)
  })

  test('shares its origin with the public page alone, and never sees who is signed in', async () => {
    const seen: IncomingMessage[] = []
    const { url } = await openApplication((incoming, response) => {
      seen.push(incoming)
      response.end('app')
    })
    const server = await openLocalUi(url)
    const tunnel = createTcpServer((socket) => server.accept(socket)).listen(0, '127.0.0.1')
    await once(tunnel, 'listening')
    closers.push(() => void tunnel.close())
    const throughTunnel = { ...server, port: (tunnel.address() as AddressInfo).port }
    const headers = { 'x-hub-user': 'ada', 'x-hub-role': 'admin' }
    for (const path of ['/device/api/v1/status', '/device/api/v1/file', '/device/sign-in', '/device/rules'])
      for (const way of [server, throughTunnel])
        expect([path, (await ask(way, path, { headers })).status]).toEqual([path, 404])
    const page = await ask(throughTunnel, '/device/', { headers })
    expect(page.text).toContain('DT-0123456789AB')
    expect(page.text).not.toContain('Sign in')
    const cookie = 'a=1; hedgerow-8080=secret; __Host-hedgerow-8080=secret; b=2'
    await ask(server, '/', { headers: { cookie } })
    await ask(server, '/', { headers: { cookie: 'hedgerow-8080=secret' } })
    expect(seen.map((incoming) => incoming.headers.cookie)).toEqual(['a=1; b=2', undefined])
  })

  test('answers an older hub through the tunnel only, unless uiOnLan is set', async () => {
    const { url } = await openApplication((_incoming, response) => response.end('app'))
    const server = await openLocalUi(url, stateOf(), false)
    const tunnel = createTcpServer((socket) => server.accept(socket)).listen(0, '127.0.0.1')
    await once(tunnel, 'listening')
    closers.push(() => void tunnel.close())
    const throughTunnel = { ...server, port: (tunnel.address() as AddressInfo).port }
    const origin = { headers: { origin: HUB_ORIGIN } }

    expect((await ask(throughTunnel, '/')).text).toBe('app')
    for (const path of ['/login', '/api/state', '//', '/%2e'])
      expect(await ask(server, path)).toMatchObject({ status: 404, text: expect.stringContaining('/device') as string })
    expect(await ask(server, '/')).toMatchObject({ status: 302, headers: { location: '/device/' } })
    expect((await ask(server, '/device/')).text).toContain('DT-0123456789AB')
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/live`)
    const [error] = (await once(client, 'error').catch((failure: unknown) => [failure])) as [Error]
    expect(error.message).toContain('404')
    // The portal opens a gateway directly when it can read its health; this one it must open through the hub.
    const health = await ask(server, '/api/health', origin)
    expect([health.status, health.headers['access-control-allow-origin']]).toEqual([200, undefined])
    const open = await openLocalUi(url)
    expect((await ask(open, '/login')).text).toBe('app')
    expect((await ask(open, '/api/health', origin)).headers['access-control-allow-origin']).toBeUndefined()
  })

  test('leaves the gateway’s origin to the device’s own interface when the hub supports applications', async () => {
    const { url } = await openApplication((_incoming, response) => response.end('app'))
    const server = await openLocalUi(url)
    const tunnel = createTcpServer((socket) => server.accept(socket)).listen(0, '127.0.0.1')
    await once(tunnel, 'listening')
    closers.push(() => void tunnel.close())
    const throughTunnel = { ...server, port: (tunnel.address() as AddressInfo).port }
    const asManager = { 'x-hub-application': 'device', 'x-hub-user': 'ada', 'x-hub-role': 'manager' }
    const asked = (path: string) => ask(throughTunnel, path, { headers: asManager })
    expect(await asked('/')).toMatchObject({ status: 302, headers: { location: '/device/' } })
    expect((await asked('/login')).status).toBe(404)
    expect((await asked('/device/api/v1/status')).status).toBe(200)
    const client = new WebSocket(`ws://127.0.0.1:${throughTunnel.port}/live`, { headers: asManager })
    const [error] = (await once(client, 'error').catch((failure: unknown) => [failure])) as [Error]
    expect(error.message).toContain('404')
    // On the device's own network the header is ignored.
    expect((await ask(server, '/login', { headers: asManager })).text).toBe('app')
  })

  test('keeps the framing of bodies, whatever the method', async () => {
    const { url } = await openApplication((incoming, response) => {
      void text(incoming).then((body) => response.end(`${incoming.method} ${body}`))
    })
    const server = await openLocalUi(url)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect((await ask(server, '/', { method: 'POST', body: 'a'.repeat(100_000), headers: chunked })).text.length).toBe(
      100_005,
    )
    expect((await ask(server, '/', { method: 'DELETE', body: 'gone', headers: chunked })).text).toBe('DELETE gone')
  })

  test('streams: the first part arrives before the second is written, without a warning of Node', async () => {
    const warnings: string[] = []
    const warned = ({ name }: Error) => void warnings.push(name)
    process.on('warning', warned)
    closers.push(() => void process.off('warning', warned))
    let finish = () => {}
    const { url } = await openApplication((_incoming, response) => {
      response.write('first')
      finish = () => response.end('second')
    })
    const server = await openLocalUi(url)
    const outgoing = request({ host: '127.0.0.1', port: server.port, agent: false }).end()
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
    const [first] = await once(answer, 'data')
    expect(String(first)).toBe('first')
    finish()
    expect(await text(answer)).toBe('second')
    expect(warnings).toEqual([])
  })

  test('forwards WebSockets both ways and closes both ends together', async () => {
    const application = await openApplication((_incoming, response) => response.end())
    const sockets = new WebSocketServer({ server: application.server })
    const closed: number[] = []
    sockets.on('connection', (socket) => {
      socket.on('message', (data) => socket.send(`echo ${String(data)}`))
      socket.on('close', (code) => closed.push(code))
    })
    const server = await openLocalUi(application.url)
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/live`)
    await once(client, 'open')
    client.send('hello')
    const [message] = await once(client, 'message')
    expect(String(message)).toBe('echo hello')
    client.close(4_001)
    const [code] = await once(client, 'close')
    expect(code).toBe(4_001)
    expect(closed).toEqual([4_001])
  })

  test.each([
    ['a control character in its reason phrase', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 0\r\n\r\n'],
    ['status 000', 'HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n'],
    ['status 101 unasked', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['interim answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(500)],
    ['status 000 and an agreement', 'HTTP/1.1 000 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n'],
  ])('that sends %s is refused, and the agent keeps running', async (_what, bytes) => {
    const application = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(bytes, 'latin1'))
    }).listen(0, '127.0.0.1')
    closers.push(() => new Promise((resolve) => application.close(resolve)))
    await once(application, 'listening')
    const { port } = application.address() as AddressInfo
    const server = await openLocalUi(new URL(`http://127.0.0.1:${port}`))
    expect((await ask(server, '/')).status).toBe(502)
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/live`)
    const [error] = (await once(client, 'error').catch((failure: unknown) => [failure])) as [Error]
    expect(error.message).toContain('502')
    expect((await ask(server, '/api/health')).status).toBe(200)
    expect(faulty).toEqual([])
  })

  test('that declines a WebSocket of a client that has left ends only that connection', async () => {
    let client = connect(1, '127.0.0.1').on('error', () => {})
    const application = await openApplication(() => {})
    application.server.on('upgrade', (_request, socket) => {
      socket.on('error', () => {})
      // Both reach the agent in one turn of its event loop: the client is gone, and its 'close' is still to come.
      client.resetAndDestroy()
      socket.write('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno')
    })
    const server = await openLocalUi(application.url)
    for (let round = 0; round < 20; round++) {
      client = connect(server.port, '127.0.0.1').on('error', () => {})
      const closed = once(client, 'close')
      client.write('GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      await closed
    }
    expect((await ask(server, '/api/health')).status).toBe(200)
    expect(faulty).toEqual([])
  })

  test('that does not answer is reported in words, with a link to the device page', async () => {
    // Nothing listens there, and no other test can take it.
    const server = await openLocalUi(new URL('http://127.0.0.1:1'))
    const answer = await ask(server, '/')
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('connection refused')
    expect(answer.text).toContain('/device')
    const client = new WebSocket(`ws://127.0.0.1:${server.port}/live`)
    const [error] = (await once(client, 'error').catch((failure: unknown) => [failure])) as [Error]
    expect(error.message).toContain('502')
  })
})
