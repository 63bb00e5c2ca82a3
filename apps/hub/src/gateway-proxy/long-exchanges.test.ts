import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startGatewayUi, type TestGatewayUi } from '#testing/gateway-proxy.ts'
import { standstill } from '#testing/standstill.ts'

/** Longer than a test may take, so that no timeout of the hub ends an exchange that should end for another reason. */
const NEVER_MS = 3_600_000

type Page = Awaited<ReturnType<TestGatewayUi['openPage']>>

let hub: TestGatewayUi
beforeEach(async () => {
  hub = await startGatewayUi({ progressTimeoutMs: NEVER_MS })
})
afterEach(() => hub.stop())

it('exchanges without an end of their own are ended when the hub begins to stop, and others go on', async () => {
  const finish = Promise.withResolvers<void>()
  const types: Record<string, string> = {
    '/events': 'text/event-stream; charset=utf-8',
    '/camera': 'multipart/x-mixed-replace; boundary=x',
    '/report': 'text/plain',
  }
  const page = await hub.openPage((req, res) => {
    res.writeHead(200, { 'content-type': types[req.url!] })
    res.write('first')
    if (req.url === '/report') void finish.promise.then(() => res.end(' and last'))
  })
  async function read(path: string) {
    const headers = { host: page.host, cookie: page.cookie }
    const outgoing = request({ port: hub.hubPort, host: '127.0.0.1', path, headers }).end()
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    const [first] = (await once(incoming, 'data')) as [Buffer]
    const whole = text(incoming).then(
      (rest) => `${first.toString()}${rest}`,
      () => 'ended',
    )
    return { whole }
  }
  const [events, camera, report] = await Promise.all(Object.keys(types).map(read))
  hub.ui.endEndless()
  expect([await events!.whole, await camera!.whole]).toEqual(['ended', 'ended'])
  finish.resolve()
  expect(await report!.whole).toBe('first and last')
})

describe('long exchanges', () => {
  const MEGABYTE = randomBytes(1024 * 1024)
  const TOTAL_MB = 100
  /** The most that four sockets of this machine buffer while nobody reads. */
  const SOCKET_BUFFERS = 40 * MEGABYTE.length

  it('100 MB are downloaded, with no more in memory than sockets buffer', async () => {
    let sentMb = 0
    const page = await hub.openPage((req, res) => {
      if (req.url === '/small') {
        res.end()
        return
      }
      const more = () => {
        while (sentMb < TOTAL_MB) {
          sentMb++
          if (!res.write(MEGABYTE)) {
            res.once('drain', more)
            return
          }
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
    const held = await standstill(
      () => sentMb,
      () => page.go({ path: '/small' }),
    )
    expect(held, 'the transfer is under way').toBeGreaterThan(1)
    expect(held * MEGABYTE.length).toBeLessThan(SOCKET_BUFFERS)
    let received = 0
    let mostUnderWay = 0
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      received += chunk.length
      mostUnderWay = Math.max(mostUnderWay, sentMb * MEGABYTE.length - received)
    }
    expect(received).toBe(TOTAL_MB * MEGABYTE.length)
    expect(mostUnderWay).toBeLessThan(SOCKET_BUFFERS)
  })

  it('100 MB are uploaded unchanged, with no more in memory than sockets buffer', async () => {
    const reading = Promise.withResolvers<void>()
    let received = 0
    const page = await hub.openPage(async (req, res) => {
      if (req.url === '/small') {
        res.end()
        return
      }
      const hash = createHash('sha256')
      await reading.promise
      req.on('data', (chunk: Buffer) => {
        received += chunk.length
        hash.update(chunk)
      })
      req.on('end', () => res.end(hash.digest('hex')))
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      method: 'PUT',
      headers: { host: page.host, cookie: page.cookie },
    })
    const hash = createHash('sha256')
    let sentMb = 0
    let mostUnderWay = 0
    const sending = (async () => {
      while (sentMb < TOTAL_MB) {
        hash.update(MEGABYTE)
        sentMb++
        if (!outgoing.write(MEGABYTE)) await once(outgoing, 'drain')
        mostUnderWay = Math.max(mostUnderWay, sentMb * MEGABYTE.length - received)
      }
      outgoing.end()
    })()
    const held = await standstill(
      () => sentMb,
      () => page.go({ path: '/small' }),
    )
    expect(held, 'the transfer is under way').toBeGreaterThan(1)
    expect(held * MEGABYTE.length).toBeLessThan(SOCKET_BUFFERS)
    reading.resolve()
    await sending
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
    expect(await text(incoming)).toBe(hash.digest('hex'))
    expect(mostUnderWay).toBeLessThan(SOCKET_BUFFERS)
  })

  it('end at the gateway when the browser leaves', async () => {
    const left = Promise.withResolvers<void>()
    const page = await hub.openPage((_req, res) => {
      res.write('x')
      res.once('close', left.resolve)
    })
    const outgoing = request({
      port: hub.hubPort,
      host: '127.0.0.1',
      headers: { host: page.host, cookie: page.cookie },
    }).end()
    await once(outgoing, 'response')
    outgoing.on('error', () => {}).destroy()
    await expect(left.promise).resolves.toBeUndefined()
  })

  it('end at the gateway when the browser leaves in the middle of an upload', async () => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const page = await hub.openPage((req) => {
      req.on('error', () => {}).once('close', left.resolve)
      arrived.resolve()
    })
    const headers = { host: page.host, cookie: page.cookie, 'content-length': '1000000' }
    const outgoing = request({ port: hub.hubPort, host: '127.0.0.1', method: 'POST', headers }).on('error', () => {})
    outgoing.write('some')
    await arrived.promise
    outgoing.destroy()
    await expect(left.promise).resolves.toBeUndefined()
  })

  it('end when the session ends, and count the person as present until then', async () => {
    const page = await hub.openPage((_req, res) => void res.write('x'))
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
    await hub.sessions.end(page.caller.sessionId)
    await closed
  })

  it.each([
    ['their session ends', (page: Page) => hub.sessions.end(page.caller.sessionId)],
    ['the person may no longer see the gateway', () => hub.db.deleteFrom('gateways').execute()],
  ])('over HTTP/2 end alone when %s', async (_when, revoke) => {
    await hub.stop()
    hub = await startGatewayUi({ https: true })
    const [page, other] = [await hub.openPage((_req, res) => void res.write('x')), await hub.signIn()]
    const client = connectHttp2(`https://127.0.0.1:${hub.httpsPort}`, { rejectUnauthorized: false })
    const open = (cookie: string) =>
      client.request({ ':authority': page.host, ':path': '/', cookie }).on('error', () => {})
    try {
      const stream = open(page.cookie)
      const closed = once(stream, 'close').catch(() => {})
      await once(stream, 'data')
      expect(hub.ui.connectedUsers(page.gateway.id)).toBe(1)
      await revoke(page)
      await closed
      expect(stream.rstCode).not.toBe(0)
      const refused = open(other.token)
      const [headers] = (await once(refused, 'response')) as [{ ':status': number }]
      expect(headers[':status']).toBe(401)
      refused.destroy()
    } finally {
      client.destroy()
    }
  })

  it('end soon after the person may no longer see the gateway', async () => {
    const page = await hub.openPage((_req, res) => void res.write('x'))
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
    expect(incoming.complete, 'a cut answer does not look whole').toBe(false)
  })
})

describe('with all connections to a gateway in use', () => {
  const MAX_CONNECTIONS = 1_024
  const OPEN_PER_SESSION = 256
  // A busy machine takes seconds to open them all.
  const PROGRESS_TIMEOUT_MS = 8_000

  it('a request that waits in vain gets the page that says so, and the others go on', async () => {
    await hub.stop()
    hub = await startGatewayUi({ progressTimeoutMs: PROGRESS_TIMEOUT_MS })
    const open = new Set<ServerResponse>()
    const gateway = await hub.addGateway((_req, res) => void open.add(res.once('close', () => open.delete(res))))
    const progress = setInterval(() => open.forEach((res) => res.write('.')), PROGRESS_TIMEOUT_MS / 5)
    const visit = async () => hub.open((await hub.signIn()).caller, gateway.id)
    const outgoing: ClientRequest[] = []
    try {
      for (let session = 0; session < MAX_CONNECTIONS / OPEN_PER_SESSION; session++) {
        const { host, cookie } = await visit()
        // The hub limits the connections of one address too.
        const from = { host: '127.0.0.1', localAddress: `127.0.0.${2 + session}`, port: hub.hubPort, agent: false }
        for (let i = 0; i < OPEN_PER_SESSION; i++) {
          const asking = request({ ...from, headers: { host, cookie } })
          outgoing.push(asking.on('response', (incoming) => incoming.resume()).end())
        }
      }
      await expect.poll(() => open.size).toBe(MAX_CONNECTIONS)
      const late = await (await visit()).go({ headers: { accept: 'text/html', 'sec-fetch-dest': 'document' } })
      expect(late).toMatchObject({ status: 502, text: expect.stringContaining('has too many open requests') })
      expect(open.size).toBe(MAX_CONNECTIONS)
    } finally {
      clearInterval(progress)
      for (const asking of outgoing) asking.on('error', () => {}).destroy()
    }
  })
})
