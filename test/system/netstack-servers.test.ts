/**
 * WebSockets by `ws` over our TCP, in one thread and without a kernel: both of its ends take our streams for sockets. It
 * leans on more of `net.Socket` than HTTP does: timeouts, cork, destroySoon, half-closing.
 */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { createStack, type Stack } from '@hedgerow/netstack/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

const [CLIENT, SERVER] = ['10.80.0.1', '10.80.0.2']

describe('WebSockets over streams of the stack', () => {
  let client: Stack
  let server: Stack
  let webSockets: WebSocketServer
  let pages: http.Server

  beforeEach(() => {
    const carry = (to: () => Stack) => (packet: Uint8Array) => void setImmediate(() => to().receive(packet))
    client = createStack({ address: CLIENT, send: carry(() => server) })
    server = createStack({ address: SERVER, send: carry(() => client) })
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

  it('answer pings, and tell the one who stays that the other is gone', async () => {
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
