import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as tlsConnect } from 'node:tls'
import { afterEach, expect, test } from 'vitest'
import { createConnectionLimits } from './connection-limits.ts'
import { createFaults } from './faults.ts'
import { closeFront, createFront, cutConnections, type FrontOptions } from './front.ts'
import { TEST_CERTIFICATE } from './test-certificate.ts'

let server: Server | undefined
const clients: Socket[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy()
  if (!server) return
  cutConnections(server)
  await new Promise((resolve) => server?.close(resolve))
  server = undefined
})

const NEXT_CERTIFICATE = { ...TEST_CERTIFICATE, cert: `${TEST_CERTIFICATE.cert}\n` }

/** A front for both kinds that answers with the kind of the connection; every upgrade is an echo. */
async function open(options: Partial<FrontOptions> = {}) {
  const errors: unknown[] = []
  const limits = createConnectionLimits({ perSource: 100, total: 100, sourceOf: (address) => address })
  server = createFront({
    limits,
    faults: createFaults({ report: (error) => errors.push(error) }),
    handle: (request, response) => void response.end(kindOf(request.socket)),
    exchanges: {
      owns: ({ url }) => url === '/owned',
      handle(exchange) {
        exchange.start({ status: 200, reason: 'OK', headers: ['Content-Length', '12'] })
        exchange.write(Buffer.from(`owned, ${kindOf(exchange.socket).padEnd(5)}`))
        exchange.end()
      },
    },
    upgrade: {
      accepts: () => true,
      handle: (_request, socket, head) => void (socket.write(head), socket.pipe(socket)),
    },
    alsoTls: () => TEST_CERTIFICATE,
    ...options,
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const dial = (isTls: boolean): Socket => {
    const socket = isTls
      ? tlsConnect({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connect({ port, host: '127.0.0.1' })
    clients.push(socket.on('error', () => {}))
    return socket
  }
  const say = (isTls: boolean, bytes: string) => {
    const socket = dial(isTls)
    socket.write(bytes)
    return text(socket)
  }
  return { server, port, limits, errors, dial, say }
}

const kindOf = (socket: object) => ('encrypted' in socket ? 'TLS' : 'plain')
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
const CHUNKED =
  'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'

test.each([
  [false, 'plain'],
  [true, 'TLS'],
])('one port serves plain connections and TLS ones (TLS: %s)', async (isTls, kind) => {
  const front = await open()
  expect(await front.say(isTls, get('/'))).toMatch(new RegExp(`\r\n\r\n${kind}$`))
  expect(await front.say(isTls, get('/owned'))).toContain(`owned, ${kind}`)
  expect(await front.say(isTls, CHUNKED)).toMatch(new RegExp(`\r\n\r\n${kind}$`))
  const socket = front.dial(isTls)
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello')
  expect(String((await once(socket, 'data'))[0])).toBe('hello')
  socket.destroy()
  await expect.poll(() => front.limits.open()).toBe(0)
  expect(front.errors).toEqual([])
})

test('over TLS a browser may use HTTP/2', async () => {
  const front = await open()
  const session = connectHttp2(`https://127.0.0.1:${front.port}`, { rejectUnauthorized: false })
  const stream = session.request({ ':path': '/owned' })
  expect(await text(stream)).toContain('owned, TLS')
  const closed = once(session, 'close')
  closeFront(front.server, () => {})
  await closed
})

test('a new certificate is used from the next connection on', async () => {
  let certificate = TEST_CERTIFICATE
  const asked: string[] = []
  const front = await open({
    alsoTls: () => {
      asked.push(certificate.cert)
      return certificate
    },
  })
  expect(await front.say(false, get('/'))).toContain('plain')
  expect(asked).toEqual([])
  expect(await front.say(true, get('/'))).toContain('TLS')
  certificate = NEXT_CERTIFICATE
  expect(await front.say(true, get('/'))).toContain('TLS')
  expect(asked).toEqual([TEST_CERTIFICATE.cert, NEXT_CERTIFICATE.cert])
})

test.each([
  ['silence', ''],
  ['the first byte of a handshake', '\x16'],
  ['a handshake of garbage', '\x16\x03\x01\x00\x05hello'],
  ['a head that never ends', 'GET / HTTP/1.1\r\nHost: '],
])('%s has a deadline', async (_what, bytes) => {
  const front = await open({ deadlines: { headersMs: 300, handshakeMs: 300, idleMs: 300, lingerMs: 100 } })
  const socket = front.dial(false)
  await once(socket, 'connect')
  if (bytes) socket.write(bytes, 'latin1')
  await expect.poll(() => front.limits.open()).toBe(1)
  await expect.poll(() => front.limits.open()).toBe(0)
  expect(await front.say(true, get('/'))).toContain('TLS')
})

test('a head over TLS that never ends has a deadline, also after an answer', async () => {
  const front = await open({ deadlines: { headersMs: 300, idleMs: 60_000, lingerMs: 100 } })
  const socket = front.dial(true)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
  await once(socket, 'data')
  const trickle = setInterval(() => socket.write('GET'), 50)
  await once(socket, 'close')
  clearInterval(trickle)
  await expect.poll(() => front.limits.open()).toBe(0)
})

test('closing cuts TLS connections too', async () => {
  const front = await open({ handle: () => {} })
  const socket = front.dial(true)
  socket.write(get('/'))
  await once(socket, 'secureConnect')
  cutConnections(front.server)
  await once(socket, 'close')
  await expect.poll(() => front.limits.open()).toBe(0)
})
