/**
 * Third-party servers over our TCP, in one thread and without a kernel: `ws` and Fastify use our streams as sockets.
 * They need more of `net.Socket` than plain HTTP does: timeouts, cork, destroySoon, half-closing.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { Readable } from 'node:stream'
import { json, text } from 'node:stream/consumers'
import { createStack, type Stack } from '@hedgerow/netstack/node'
import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

const [CLIENT, SERVER] = ['10.80.0.1', '10.80.0.2']

/** Two stacks whose packets reach the other in the next turn. */
function joinStacks(): { client: Stack; server: Stack } {
  const carry = (to: () => Stack) => (sent: Uint8Array) => {
    const packet = new Uint8Array(sent)
    setImmediate(() => to().receive(packet))
  }
  const client: Stack = createStack({ address: CLIENT, send: carry(() => server) })
  const server: Stack = createStack({ address: SERVER, send: carry(() => client) })
  return { client, server }
}

describe('WebSockets over streams of the stack', () => {
  let client: Stack
  let server: Stack
  let webSockets: WebSocketServer
  let pages: http.Server

  beforeEach(() => {
    ;({ client, server } = joinStacks())
    pages = http.createServer((_incoming, outgoing) => outgoing.end('a page'))
    webSockets = new WebSocketServer({ server: pages })
    server.listen({ port: 80 }, (stream) => pages.emit('connection', stream))
  })
  afterEach(() => {
    webSockets.close()
    pages.close()
    client.close()
    server.close()
  })

  const connect = (): WebSocket =>
    new WebSocket(`ws://${SERVER}/live`, { createConnection: () => client.connect({ host: SERVER, port: 80 }) })

  it('carry messages of every size both ways, in order', async () => {
    webSockets.on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    )
    const socket = connect()
    await once(socket, 'open')
    const sent = [0, 1, 125, 126, 65_535, 65_536, 3_000_000].map((length) => randomBytes(length))
    const received: Buffer[] = []
    const done = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        received.push(data)
        if (received.length === sent.length) resolve()
      })
    })
    for (const message of sent) socket.send(message)
    await done
    expect(received.map((data, i) => Buffer.compare(data, sent[i]!))).toEqual(sent.map(() => 0))
    socket.close(1000, 'enough')
    const [code] = (await once(socket, 'close')) as [number]
    expect(code).toBe(1000)
  })

  it('answer pings, and notify one side that the other has left', async () => {
    const accepted = once(webSockets, 'connection') as Promise<[WebSocket]>
    const socket = connect()
    await once(socket, 'open')
    const [peer] = await accepted
    peer.ping('are you there')
    const [data] = (await once(peer, 'pong')) as [Buffer]
    expect(data.toString()).toBe('are you there')
    socket.terminate()
    const [code] = (await once(peer, 'close')) as [number]
    expect(code).toBe(1006)
  })

  it('share their port with pages', async () => {
    const socket = connect()
    await once(socket, 'open')
    const outgoing = http.get({ host: SERVER, createConnection: () => client.connect({ host: SERVER, port: 80 }) })
    const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage]
    expect(incoming.statusCode).toBe(200)
    incoming.resume()
    socket.terminate()
  })
})

describe('Fastify over streams of the stack', () => {
  let client: Stack
  let server: Stack
  let app: FastifyInstance
  let agent: http.Agent

  beforeEach(async () => {
    ;({ client, server } = joinStacks())
    app = fastify({ bodyLimit: 100_000 })
    app.get('/who', (asked) => ({ address: asked.ip, port: asked.socket.remotePort }))
    app.post('/sum', (asked) => ({ sum: (asked.body as number[]).reduce((sum, number) => sum + number, 0) }))
    app.get('/stream', (_asked, answer) => answer.send(Readable.from(['one ', 'two ', 'three'])))
    await app.ready()
    server.listen({ port: 80 }, (stream) => app.server.emit('connection', stream))
    agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    Object.assign(agent, { createConnection: () => client.connect({ host: SERVER, port: 80 }) })
  })
  afterEach(async () => {
    agent.destroy()
    client.close()
    server.close()
    await app.close()
  })

  async function ask(method: string, path: string, body?: string): Promise<http.IncomingMessage> {
    const outgoing = http.request({ host: SERVER, agent, method, path })
    if (body !== undefined) outgoing.setHeader('content-type', 'application/json')
    outgoing.end(body)
    const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage]
    return incoming
  }

  it('answers on one connection, and knows the caller’s address', async () => {
    const first = (await json(await ask('GET', '/who'))) as { address: string; port: number }
    expect(first.address).toBe(CLIENT)
    expect(await json(await ask('GET', '/who'))).toEqual(first)
  })

  it('reads bodies and streams answers', async () => {
    expect(await json(await ask('POST', '/sum', '[1,2,3]'))).toEqual({ sum: 6 })
    expect(await text(await ask('GET', '/stream'))).toBe('one two three')
  })

  it('refuses a body that is too long, and serves the next caller', async () => {
    const refused = await ask('POST', '/sum', JSON.stringify('x'.repeat(100_000)))
    expect(refused.statusCode).toBe(413)
    refused.resume()
    await once(refused, 'close')
    expect(await json(await ask('POST', '/sum', '[4,5]'))).toEqual({ sum: 9 })
  })
})
