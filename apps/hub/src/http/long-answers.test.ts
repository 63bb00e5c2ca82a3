import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { editUser } from '@hedgerow/contract'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ownedBy } from '../access/ownership.ts'
import { storeDetections } from '../detections/detections.ts'
import { createLongAnswers } from './long-answers.ts'
import { insertTestGateway } from '#testing/gateway.ts'
import { startTestHub, type TestHub } from '#testing/hub.ts'
import { noiseJpeg } from '#testing/jpeg.ts'

/** More than the buffers of a connection take, so that the answer goes on while nobody reads. */
const ANSWER_BYTES = 24 * 1024 * 1024

describe('an answer that goes on while it is sent', () => {
  let hub: TestHub
  let port: number
  let httpsPort: number
  let gatewayId: string
  beforeAll(async () => {
    hub = await startTestHub('sqlite', { httpsPort: 0 })
    const started = await hub.start()
    port = started.port
    httpsPort = started.httpsPort!
    gatewayId = await insertTestGateway(hub.db)
    const jpeg = await noiseJpeg(220)
    const seen = { camera: 'yard', label: 'boar', severity: 'alert', score: 1, jpeg } as const
    const startedAt = (minutes: number) => new Date(hub.clock.now() - minutes * 60_000).toISOString()
    const all = Array.from({ length: ANSWER_BYTES / jpeg.length }, (_, i) => ({
      ...seen,
      id: `d${i}`,
      startedAt: startedAt(i),
    }))
    for (let at = 0; at < all.length; at += 50)
      await storeDetections(hub.db, gatewayId, all.slice(at, at + 50), hub.clock.now())
    const entry = { at: hub.clock.now(), actor: 'hub', action: 'x', source_ip: null, result: 'ok' as const }
    const entries = Array.from({ length: 100 }, () => ({ ...entry, target: 'x'.repeat(16 * 1024) }))
    for (let i = 0; i < ANSWER_BYTES / (100 * 16 * 1024); i++)
      await hub.db.insertInto('audit').values(entries).execute()
  })
  afterAll(() => hub.stop())

  let made = 0
  async function person(role: 'user' | 'manager' | 'admin') {
    const name = `${role}-${made++}`
    const id = await hub.addUser(name, role, 'the-password-of-this-one')
    const token = await hub.sessions.start({ id }, { sourceIp: '127.0.0.1', userAgent: 'test' })
    await hub.db.updateTable('gateways').set(ownedBy(id)).where('id', '=', gatewayId).execute()
    return { id, name, token }
  }

  /** Begins to read, and stops. */
  async function begin(path: string, token: string, { isTls = false } = {}): Promise<Socket> {
    const socket = isTls
      ? connectTls({ host: '127.0.0.1', port: httpsPort, rejectUnauthorized: false })
      : connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`)
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(head.toString('latin1')).toMatch(/^HTTP\/1\.1 200 /)
    return socket.pause()
  }

  const connections = () => new Promise((resolve) => hub.app.server.getConnections((_, count) => resolve(count)))

  /** How its connection ended, once it has; what was on its way is lost. */
  async function endOf(socket: Socket): Promise<string | undefined> {
    await expect.poll(connections, { timeout: 10_000 }).toBe(0)
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length)).resume()
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(bytes).toBeLessThan(ANSWER_BYTES / 2)
    return error.code
  }

  const EXPORT = '/api/v1/hub/incidents/export'
  const AUDIT = '/api/v1/admin/audit?format=csv'

  test.each([EXPORT, AUDIT])('%s ends at once when its person signs out', async (path) => {
    const { token } = await person('admin')
    const socket = await begin(path, token)
    const answer = await hub.app.inject({
      method: 'POST',
      url: '/api/v1/auth/logout',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.statusCode).toBeLessThan(300)
    expect(await endOf(socket)).toBe('ECONNRESET')
  })

  test('an export over https ends at once too, with what is on its way', async () => {
    const { id, token } = await person('admin')
    const socket = await begin(EXPORT, token, { isTls: true })
    const ended = once(socket, 'error')
    await hub.sessions.endAllOf(id)
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    await sleep(300)
    socket.resume()
    expect(((await ended) as [NodeJS.ErrnoException])[0].code).toBe('ECONNRESET')
    expect(bytes).toBeLessThan(ANSWER_BYTES / 2)
  })

  test.each([EXPORT, AUDIT])('%s ends when its person is deactivated', async (path) => {
    const { id, token } = await person('admin')
    const socket = await begin(path, token)
    const url = `/api${editUser.path.replace(':id', id)}`
    const headers = { authorization: `Bearer ${await hub.signIn('admin')}` }
    const answer = await hub.app.inject({
      method: editUser.method,
      url,
      headers,
      payload: { active: false },
    })
    expect(answer.statusCode, answer.body).toBe(200)
    expect(await endOf(socket)).toBe('ECONNRESET')
  })

  test('an export ends when another process gives the gateway to somebody else', async () => {
    const { token } = await person('user')
    const socket = await begin(EXPORT, token)
    await person('user')
    expect(await endOf(socket)).toBe('ECONNRESET')
  })

  test('an export of all gateways ends when another process makes its manager a user', async () => {
    const { id, token } = await person('manager')
    const socket = await begin(EXPORT, token)
    await hub.db.updateTable('users').set({ role: 'user' }).where('id', '=', id).execute()
    expect(await endOf(socket)).toBe('ECONNRESET')
  })

  test('an export goes on while its person reads it slowly and is allowed to', async () => {
    const { token } = await person('user')
    const socket = await begin(`${EXPORT}?gateway=${gatewayId}`, token)
    // Three rechecks.
    await sleep(1_500)
    let bytes = 0
    let tail = ''
    socket.on('data', (chunk) => {
      bytes += chunk.length
      tail = (tail + chunk.toString('latin1')).slice(-7)
    })
    socket.resume()
    await expect.poll(() => tail).toBe('\r\n0\r\n\r\n')
    expect(bytes).toBeGreaterThan(ANSWER_BYTES / 2)
    socket.destroy()
    await expect.poll(connections).toBe(0)
  })
})

test('a reader who takes next to nothing is let go, and one who waits for a slow source is not', async () => {
  const sessions = { find: async () => undefined, onEnded: () => () => {} }
  const slowest = { bytes: 4 * 1024, withinMs: 600 }
  const answers = createLongAnswers({ sessions, log: pino({ level: 'silent' }), slowest })
  const much = Buffer.alloc(64 * 1024)
  const flood = () =>
    new Readable({
      read(this: Readable) {
        this.push(much)
      },
    })
  const trickle = () =>
    Readable.from(
      (async function* () {
        for (;;) {
          await sleep(50)
          yield '.'
        }
      })(),
    )
  const closed = new Set<string>()
  const server = createServer((request, response) => {
    const source = request.url === '/flood' ? flood() : trickle()
    response.once('close', () => closed.add(request.url!))
    answers.hold(source, { response, allowance: undefined }).pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const open = (path: string) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
    onTestFinished(() => void socket.destroy())
    return socket
  }
  let heard = 0
  open('/trickle').on('data', (chunk) => (heard += chunk.length))
  open('/flood').pause()
  await expect.poll(() => [...closed], { timeout: 20_000 }).toEqual(['/flood'])
  const before = heard
  await expect.poll(() => heard).toBeGreaterThan(before)
  expect([...closed]).toEqual(['/flood'])
  await answers.stop()
  server.close()
})

const ADMIN = { userId: 'u', username: 'rosa', role: 'admin', sessionId: 's' } as const

describe('an answer that the system has whole, and its reader not', () => {
  const SENT = Buffer.alloc(400 * 1024)
  async function start() {
    let signOut: (sessionId: string) => void = () => {}
    const sessions = { find: async () => ADMIN, onEnded: (ended: typeof signOut) => ((signOut = ended), () => {}) }
    const answers = createLongAnswers({ sessions, log: pino({ level: 'silent' }) })
    const allowance = { caller: ADMIN, capability: { hub: 'admin' } } as const
    const finished = Promise.withResolvers<void>()
    let listeners = () => 0
    const server = createServer((request, response) => {
      answers.hasRead(request.socket)
      listeners = () => request.socket.listenerCount('close')
      if (request.url === '/next') response.end('next')
      else answers.hold(Readable.from([SENT]), { response, allowance }).pipe(response)
      response.once('close', () => finished.resolve())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1')
    onTestFinished(async () => {
      socket.destroy()
      server.close()
      await answers.stop()
    })
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    await finished.promise
    return { socket, got: head.length, signOut: () => signOut(ADMIN.sessionId), listeners: () => listeners() }
  }

  test('ends when its person signs out', async () => {
    const { socket, signOut, ...before } = await start()
    signOut()
    let { got } = before
    const ended = once(socket, 'error')
    await sleep(100)
    socket.on('data', (chunk) => (got += chunk.length)).resume()
    expect(((await ended) as [NodeJS.ErrnoException])[0].code).toBe('ECONNRESET')
    expect(got).toBeLessThan(SENT.length)
  })

  test('leaves no listener behind, however many follow it on a connection', async () => {
    const { socket, listeners } = await start()
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length)).resume()
    const before = listeners()
    for (let answer = 2; answer <= 12; answer++) {
      await expect.poll(() => bytes).toBeGreaterThan(SENT.length * (answer - 1) - 70_000)
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
    }
    await expect.poll(() => bytes).toBeGreaterThan(SENT.length * 12 - 70_000)
    expect(listeners()).toBeLessThanOrEqual(before + 1)
  })

  test('was read once its connection has the next request, which goes on', async () => {
    const { socket, signOut } = await start()
    const body = new Promise<void>((resolve) => {
      let text = ''
      socket.on('data', (chunk) => {
        text = (text + chunk.toString('latin1')).slice(-40)
        if (text.endsWith('\r\n0\r\n\r\n')) resolve()
        if (text.endsWith('next')) socket.emit('next')
      })
    })
    socket.resume()
    await body
    const next = once(socket, 'next')
    socket.write('GET /next HTTP/1.1\r\nhost: a\r\n\r\n')
    await next
    signOut()
    await sleep(200)
    expect(socket.destroyed).toBe(false)
  })
})
