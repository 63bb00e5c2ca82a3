/**
 * Carries a WebSocket between a browser and a gateway: the opening handshake is a request like others, and then bytes
 * pass both ways unread, each side only as fast as the other takes them (RFC 6455 §4).
 */
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const KEEPALIVE_DELAY_MS = 30_000
/** How long a side may take to receive the rest after the other has closed. */
const LINGER_MS = 5_000

export type WebSocketExchange = {
  /** A new stream to the gateway. */
  open(): Duplex
  headers: string[]
  answerHeaders(raw: readonly string[]): string[]
  progressTimeoutMs: number
  onUnreachable(reason: Error): void
  onOver(): void
}

/** `res` speaks on `socket` until the gateway agrees. The function it gives cuts both sides off. */
export function proxyWebSocket(
  req: IncomingMessage,
  { socket, head, res }: { socket: Socket; head: Buffer; res: ServerResponse },
  exchange: WebSocketExchange,
): () => void {
  const upstream = exchange.open()
  const outgoing = request({
    createConnection: () => upstream,
    method: 'GET',
    path: req.url,
    headers: [...exchange.headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
  })
  const timer = setTimeout(
    () => outgoing.destroy(new Error('the gateway gave no answer in time')),
    exchange.progressTimeoutMs,
  )

  socket.once('close', () => {
    clearTimeout(timer)
    outgoing.destroy()
    exchange.onOver()
  })
  outgoing.on('error', (error) => {
    clearTimeout(timer)
    if (res.headersSent || socket.destroyed) socket.destroy()
    else exchange.onUnreachable(error)
  })
  outgoing.once('response', (incoming) => {
    clearTimeout(timer)
    incoming.on('error', () => socket.destroy())
    res.writeHead(incoming.statusCode ?? 502, exchange.answerHeaders(incoming.rawHeaders))
    incoming.pipe(res)
  })
  outgoing.once('upgrade', (incoming: IncomingMessage, _stream: Duplex, upstreamHead: Buffer) => {
    clearTimeout(timer)
    res.detachSocket(socket)
    const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
    const headers = exchange.answerHeaders(incoming.rawHeaders)
    for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
    socket.setTimeout(0)
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEPALIVE_DELAY_MS)
    socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
    if (head.length > 0) upstream.write(head)
    if (upstreamHead.length > 0) socket.write(upstreamHead)
    join(socket, upstream)
  })
  outgoing.end()

  return () => {
    upstream.destroy()
    socket.destroy()
  }
}

function join(a: Duplex, b: Duplex): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to)
    from.once('error', () => to.destroy())
    from.once('close', () => {
      if (to.destroyed) return
      to.end()
      const linger = setTimeout(() => to.destroy(), LINGER_MS).unref()
      to.once('close', () => clearTimeout(linger))
    })
  }
}
