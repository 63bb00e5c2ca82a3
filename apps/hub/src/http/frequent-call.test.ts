import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sendHeartbeat } from '@hedgerow/contract'
import { createConnectionLimits, createFaults, createFront, cutConnections } from '@hedgerow/http'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { testHeartbeat } from '#testing/heartbeat.ts'
import { HubError } from '../kernel/hub-error.ts'
import { createApi } from './api.ts'
import { CLIENT_ERROR } from './errors.ts'
import { serveFrequentCall } from './frequent-call.ts'
import { mount } from './mount.ts'

const LIMIT = 64 * 1024
const PATH = '/api/v1/gateway/heartbeat'
const HEARTBEAT = JSON.stringify(testHeartbeat(1_000))
const ANSWER = { serverTime: 5, settings: { heartbeatIntervalSeconds: 30 }, features: [], reviews: 0 }

const log = pino({ level: 'silent' })
const received: unknown[] = []
/** What the next calls do. */
let refuses: { early?: Error; late?: Error } = {}

const identify = () => {
  if (refuses.early) throw refuses.early
  return 'a gateway'
}
const answer = async (_caller: string, body: unknown) => {
  if (refuses.late) throw refuses.late
  received.push(body)
  return ANSWER
}

async function startServer(isFrequent: boolean): Promise<Server> {
  let server!: Server
  const app = createApi({
    surface: 'tunnel',
    log,
    sourceAddress: () => '127.0.0.1',
    serverFactory: (handle) => {
      server = createFront({
        limits: createConnectionLimits({ perSource: 100, total: 100, sourceOf: (address) => address }),
        faults: createFaults({ report: (error) => expect.unreachable(String(error)) }),
        handle,
        ...(isFrequent && {
          exchanges: serveFrequentCall(sendHeartbeat, { bodyLimitBytes: LIMIT, log, identify, answer }),
        }),
        badRequest: CLIENT_ERROR,
      })
      return server
    },
  })
  if (!isFrequent)
    mount(app, sendHeartbeat, ({ body }) => answer('a gateway', body), {
      beforeBody: async () => void identify(),
      bodyLimitBytes: LIMIT,
    })
  await app.ready()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

let frequent: Server
let mounted: Server
beforeAll(async () => {
  frequent = await startServer(true)
  mounted = await startServer(false)
})
afterAll(() => {
  for (const server of [frequent, mounted]) {
    cutConnections(server)
    server.close()
  }
})

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** Sends the pieces, each when the one before has left, and returns status, the headers that count, and the body. */
async function exchange(server: Server, pieces: readonly string[]) {
  const socket = connect(portOf(server), '127.0.0.1')
  socket.setNoDelay()
  const answered = text(socket)
  for (const piece of pieces) {
    socket.write(piece)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const [head = '', body = ''] = (await answered).split('\r\n\r\n')
  const [line = '', ...fields] = head.split('\r\n')
  const counts = /^(?:content-type|cache-control|retry-after):/i
  return {
    status: Number(line.split(' ')[1]),
    headers: fields
      .map((field) => field.toLowerCase())
      .filter((field) => counts.test(field))
      .toSorted(),
    body: body === '' ? undefined : (JSON.parse(body) as unknown),
  }
}

const post = (body: string, { type = 'application/json', more = '' } = {}) =>
  `POST ${PATH} HTTP/1.1\r\nHost: 10.100.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
  `${more}Connection: close\r\n\r\n${body}`
const chunked = (body: string) =>
  `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n` +
  `Connection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

describe('a call that is served from the front', () => {
  test.each<[string, number, string[], typeof refuses?]>([
    ['a heartbeat', 200, [post(HEARTBEAT)]],
    ['a heartbeat whose body comes later', 200, [post(HEARTBEAT).replace(HEARTBEAT, ''), HEARTBEAT]],
    ['a heartbeat in pieces', 200, post(HEARTBEAT).match(/[^]{1,150}/g)!],
    ['a heartbeat in chunks', 200, [chunked(HEARTBEAT)]],
    ['a type with a parameter', 200, [post(HEARTBEAT, { type: 'application/json; charset=utf-8' })]],
    ['another type', 415, [post(HEARTBEAT, { type: 'text/plain' })]],
    ['no body', 400, [post('')]],
    ['neither body nor type', 400, [`POST ${PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`]],
    ['a body without a type', 415, [post(HEARTBEAT).replace('Content-Type: application/json\r\n', '')]],
    ['text that is not JSON', 400, [post('{')]],
    ['a name twice', 400, [post('{"load":1,"load":1}')]],
    ['brackets', 400, [post('['.repeat(20_000))]],
    ['U+0000', 400, [post(HEARTBEAT.replace('"version":"', String.raw`"version":"\u0000`))]],
    [
      'a field too many and one that is wrong',
      400,
      [post(HEARTBEAT.replace('{', '{"more":1,').replace('"load":', '"load":-'))],
    ],
    ['a body that is too large', 413, [post(`"${'x'.repeat(LIMIT)}"`)]],
    ['a body that is too large, in chunks', 413, [chunked(`"${'x'.repeat(LIMIT)}"`)]],
    ['a browser', 403, [post(HEARTBEAT, { more: 'Origin: http://evil.example\r\n' })]],
    ['a stranger', 403, [post(HEARTBEAT)], { early: new HubError('gateway_unknown') }],
    ['a busy hub', 503, [post(HEARTBEAT)], { early: new HubError('hub_busy', { retryAfterMs: 4_100 }) }],
    ['a database without an answer', 500, [post(HEARTBEAT)], { late: new Error('broken') }],
    ['another method', 405, [post(HEARTBEAT).replace('POST', 'PUT')]],
    ['another path', 404, [post(HEARTBEAT).replace(PATH, `${PATH}s`)]],
    ['a query', 200, [post(HEARTBEAT).replace(PATH, `${PATH}?at=1`)]],
  ])('answers %s as a mounted one: %i', async (_case, status, pieces, does = {}) => {
    refuses = does
    received.length = 0
    const own = await exchange(frequent, pieces)
    const got = received.splice(0)
    expect(own).toEqual(await exchange(mounted, pieces))
    expect(own.status).toBe(status)
    expect(got).toEqual(received)
    expect(got.length).toBe(status === 200 ? 1 : 0)
  })

  test('gives a client that leaves before its end no answer, and serves the next', async () => {
    refuses = {}
    received.length = 0
    const socket = connect(portOf(frequent), '127.0.0.1')
    socket.write(post(HEARTBEAT).slice(0, -10))
    await once(socket, 'connect')
    socket.destroy()
    await vi.waitFor(async () => expect((await exchange(frequent, [post(HEARTBEAT)])).status).toBe(200))
    expect(received.length).toBe(1)
  })

  test('answers requests on one connection one after the other', async () => {
    refuses = {}
    const two = [post(HEARTBEAT).replace('Connection: close\r\n', ''), post(HEARTBEAT)]
    const socket = connect(portOf(frequent), '127.0.0.1')
    socket.write(two.join(''))
    expect((await text(socket)).match(/HTTP\/1\.1 200 OK/g)?.length).toBe(2)
  })
})
