/**
 * Carries a WebSocket between a browser and a gateway: the opening handshake is a request like others, then bytes pass
 * both ways unparsed, each side only as fast as the other reads (RFC 6455 §4).
 */
import {
  boundInterimAnswers,
  checkHeaders,
  endConnection,
  readAnswerHead,
  readSwitchHead,
  writeHead,
  type AnswerHead,
} from '@hedgerow/http'
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayTimeout } from './failures.ts'
import type { OpenExchange } from './open-visits.ts'

const KEEPALIVE_DELAY_MS = 30_000
/** How long a side may take to receive the rest after the other has closed. */
const LINGER_MS = 5_000

export type WebSocketExchange = {
  /** A new stream to the gateway. */
  open(): Duplex
  headers: readonly string[]
  answerHeaders(raw: readonly string[]): string[]
  progressTimeoutMs: number
  contain(task: () => void): void
  /** The gateway gave no usable answer; nothing has been written to the socket yet. */
  onUnreachable(reason: Error): void
  onOver(): void
}

/** Owns `socket`, to which nothing has been written yet. */
export function proxyWebSocket(
  req: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  exchange: WebSocketExchange,
): OpenExchange {
  const upstream = exchange.open()
  upstream.on('error', () => upstream.destroy())
  const outgoing = request({
    createConnection: () => upstream,
    method: 'GET',
    path: req.url,
    headers: [...exchange.headers, 'Connection', 'Upgrade', 'Upgrade', 'websocket'],
  })
  let state: 'waiting' | 'refused' | 'answered' = 'waiting'
  const timer = setTimeout(() => outgoing.destroy(new GatewayTimeout()), exchange.progressTimeoutMs)

  function fail(reason: Error): void {
    clearTimeout(timer)
    upstream.destroy()
    if (state === 'answered') socket.destroy()
    if (state !== 'waiting' || socket.destroyed) return
    state = 'refused'
    exchange.onUnreachable(reason)
  }

  /** The gateway's answer as the browser gets it; undefined when it is unusable. */
  function translate(incoming: IncomingMessage, read: (answer: IncomingMessage) => AnswerHead): string | undefined {
    clearTimeout(timer)
    try {
      const answer = read(incoming)
      const ours = answer.status === 101 ? ['Connection', 'Upgrade', 'Upgrade', 'websocket'] : ['Connection', 'close']
      const headers = exchange.answerHeaders(answer.headers)
      checkHeaders(headers)
      return writeHead({ ...answer, headers: [...ours, ...headers] })
    } catch (error) {
      fail(error as Error)
      return undefined
    }
  }

  /** Passes on a refusal by the gateway and ends the connection. */
  function decline(incoming: IncomingMessage): void {
    const text = translate(incoming, readAnswerHead)
    if (text === undefined) return void incoming.destroy()
    state = 'answered'
    incoming.on('error', () => socket.destroy())
    incoming.once('close', () => {
      if (!incoming.complete) socket.destroy()
    })
    socket.once('finish', () => endConnection(socket))
    socket.resume()
    socket.write(text, 'latin1')
    incoming.pipe(socket)
  }

  function agree(incoming: IncomingMessage, upstreamHead: Buffer): void {
    const text = translate(incoming, readSwitchHead)
    if (text === undefined) return
    state = 'answered'
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEPALIVE_DELAY_MS)
    socket.write(text, 'latin1')
    if (head.length > 0) upstream.write(head)
    if (upstreamHead.length > 0) socket.write(upstreamHead)
    join(socket, upstream)
  }

  socket.once('close', () => {
    clearTimeout(timer)
    outgoing.destroy()
    upstream.destroy()
    exchange.onOver()
  })
  boundInterimAnswers(outgoing)
  outgoing.on('error', fail)
  outgoing.once('close', () => {
    if (state === 'waiting') fail(new Error('the gateway gave no answer'))
  })
  outgoing.once('response', (incoming) => exchange.contain(() => decline(incoming)))
  outgoing.once('upgrade', (incoming: IncomingMessage, _stream: Duplex, upstreamHead: Buffer) =>
    exchange.contain(() => agree(incoming, upstreamHead)),
  )
  outgoing.end()

  return {
    cut() {
      upstream.destroy()
      socket.destroy()
    },
    isEndless: () => true,
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
