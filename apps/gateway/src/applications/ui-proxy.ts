import { request as httpRequest, type Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline, type Duplex } from 'node:stream'
import {
  addTrailers,
  boundInterimAnswers,
  checkHeaders,
  endConnection,
  forwardedRequestTrailers,
  headerPairs,
  hopByHopIn,
  ordersAProxy,
  readAnswerHead,
  readSwitchHead,
  saysWhoAsks,
  sendEarlyHints,
  wholeAnswer,
  writeHead,
  type AnswerHead,
  type Faults,
} from '@hedgerow/http'
import type { Logger } from 'pino'
import { inWords } from '../kernel/failure.ts'
import { isLoopback } from '../kernel/loopback.ts'
import { isOwnCookie } from '../kernel/own-cookie.ts'
import { createKeptConnections, mayUseKept, watchKept } from './kept-connections.ts'
import { bareHost, lookupFor, notAllowed, portOf, refusalOfUrl } from './reach.ts'
import { connecting, replaceIdentityHeaders, type TrustingApplication } from '../trusting-application.ts'

/** Forwards every request and WebSocket, except the gateway's own pages, to the device's own application. */
export type UiProxy = {
  handle(request: IncomingMessage, response: ServerResponse, isTunnel: boolean): void
  handleUpgrade(request: IncomingMessage, socket: Socket, head: Buffer, isTunnel: boolean): void
}

/** An application that has neither read upload bytes nor started an answer for this long counts as hanging. */
const ANSWER_TIMEOUT_MS = 60_000

export type UiProxyOptions = {
  target: URL
  /** Undefined for an application that knows nothing of this gateway; called for each request. */
  trusting?: (() => TrustingApplication | undefined) | undefined
  /** The port of the device's own interface in the local network, which no application may be. */
  ownPort(): number | undefined
  faults: Faults
  log: Logger
}

export function createUiProxy({ target, trusting, ownPort, faults, log }: UiProxyOptions): UiProxy {
  const host = bareHost(target)
  const pool = createKeptConnections(target)

  function open(incoming: IncomingMessage, headers: Record<string, string | string[]>, agent: Agent | false) {
    const connect = trusting?.()?.connect
    const request = target.protocol === 'https:' && !connect ? httpsRequest : httpRequest
    const ended = new AbortController()
    const outgoing = request({
      host,
      port: portOf(target),
      lookup: lookupFor(target, ownPort),
      method: incoming.method,
      path: incoming.url,
      headers,
      ...(connect ? { createConnection: connecting(connect, ended.signal) } : { agent }),
      // An application on the device itself (Frigate, for example) has a self-signed certificate; nobody is in between.
      rejectUnauthorized: !isLoopback(host),
    })
    const refusal = refusalOfUrl(target, ownPort())
    if (refusal !== undefined) outgoing.destroy(notAllowed(refusal))
    const timer = setTimeout(() => outgoing.destroy(new Error('it has not answered within 60 s')), ANSWER_TIMEOUT_MS)
    let isAnswered = false
    const settle = () => {
      isAnswered = true
      clearTimeout(timer)
    }
    for (const event of ['response', 'error']) outgoing.once(event, settle)
    outgoing.once('close', () => {
      clearTimeout(timer)
      ended.abort()
      // Node closes without an error at an unrequested 101 answer.
      if (!isAnswered) outgoing.emit('error', new Error('it gave no answer'))
    })
    const progressed = () => {
      if (!isAnswered) timer.refresh()
    }
    boundInterimAnswers(outgoing)
    return { outgoing, progressed, settle }
  }

  /** The application's answer, checked and ready to pass on. Throws `UnusableAnswer`. */
  function translate(answer: IncomingMessage, read: (answer: IncomingMessage) => AnswerHead): AnswerHead {
    const { status, reason, headers } = read(answer)
    const translated = { status, reason, headers: answerHeaders(headers, target) }
    checkHeaders(translated.headers)
    return translated
  }

  function handle(incoming: IncomingMessage, response: ServerResponse, isTunnel: boolean): void {
    forward(incoming, response, isTunnel, mayUseKept(incoming) && pool)
  }

  function forward(incoming: IncomingMessage, response: ServerResponse, isTunnel: boolean, agent: Agent | false): void {
    const { outgoing, progressed } = open(incoming, requestHeaders(incoming, target, isTunnel, trusting?.()), agent)
    const hasDied = watchKept(outgoing)
    const fail = (error: Error) => {
      incoming.unpipe(outgoing)
      incoming.resume()
      if (response.destroyed || response.writableEnded) return
      if (response.headersSent) response.destroy()
      else refuse(response, error)
    }
    const passHints = (rawHeaders: string[]) => {
      try {
        checkHeaders(rawHeaders)
        sendEarlyHints(response, rawHeaders)
      } catch (error) {
        outgoing.destroy(error as Error)
      }
    }
    outgoing.on('response', (answer) => {
      faults.contain(incoming.socket, () => {
        let head
        try {
          head = translate(answer, readAnswerHead)
        } catch (error) {
          answer.destroy()
          return fail(error as Error)
        }
        if (response.destroyed) return void answer.destroy()
        response.writeHead(head.status, head.reason, [...head.headers])
        answer.once('end', () => addTrailers(response, answer.rawTrailers))
        // After the head is sent, only a cut connection can show a failure.
        pipeline(answer, response, () => {})
      })
    })
    let hasHinted = false
    outgoing.on('information', ({ statusCode, rawHeaders }) => {
      if (statusCode !== 103 || hasHinted) return
      hasHinted = true
      faults.contain(incoming.socket, () => passHints(rawHeaders))
    })
    outgoing.on('error', (error) => {
      if (hasDied(error) && !response.destroyed) forward(incoming, response, isTunnel, false)
      else fail(error)
    })
    response.on('close', () => outgoing.destroy())
    if (agent) return void outgoing.end()
    incoming.on('error', () => outgoing.destroy())
    incoming.on('data', progressed)
    incoming.once('end', () => {
      if (incoming.rawTrailers.length > 0)
        outgoing.addTrailers(headerPairs(forwardedRequestTrailers(incoming.rawTrailers)))
    })
    incoming.pipe(outgoing)
  }

  function noteSilence(error: Error): void {
    log.warn({ reason: inWords(error) }, "the device's application does not answer")
  }

  function refuse(response: ServerResponse, error: Error): void {
    noteSilence(error)
    const body = `The device's own application does not answer: ${inWords(error)}.\nThe device page is at /device\n`
    response.writeHead(502, 'Bad Gateway', {
      'content-type': 'text/plain; charset=utf-8',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    response.end(body)
  }

  function handleUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer, isTunnel: boolean): void {
    const protocol = incoming.headers.upgrade ?? 'websocket'
    const headers = {
      ...requestHeaders(incoming, target, isTunnel, trusting?.()),
      connection: 'upgrade',
      upgrade: protocol,
    }
    const { outgoing, settle } = open(incoming, headers, false)
    let state: 'waiting' | 'refused' | 'answered' = 'waiting'

    function fail(error: Error): void {
      if (state === 'answered') socket.destroy()
      if (state !== 'waiting' || socket.destroyed) return
      state = 'refused'
      noteSilence(error)
      endConnection(socket, wholeAnswer(502, 'Bad Gateway', [], ''))
    }

    /** Writes the head of the answer. An unusable one is refused: returns false. */
    function pass(answer: IncomingMessage, read: (answer: IncomingMessage) => AnswerHead, ours: string[]): boolean {
      try {
        const answerHead = translate(answer, read)
        socket.write(writeHead({ ...answerHead, headers: [...ours, ...answerHead.headers] }), 'latin1')
        // The write detects a client that has reset the connection.
        if (socket.destroyed) return false
      } catch (error) {
        fail(error as Error)
        return false
      }
      state = 'answered'
      return true
    }

    function agree(answer: IncomingMessage, upstream: Duplex, upstreamHead: Buffer): void {
      upstream.on('error', () => socket.destroy())
      // Both ends of a WebSocket close together.
      upstream.on('close', () => {
        if (state === 'answered') socket.destroy()
      })
      socket.on('close', () => upstream.destroy())
      const agreed = answer.headers.upgrade?.toLowerCase() === protocol.toLowerCase()
      if (!agreed) fail(new Error('it agreed to another protocol'))
      if (!agreed || !pass(answer, readSwitchHead, ['connection', 'upgrade', 'upgrade', protocol]))
        return void upstream.destroy()
      if (upstreamHead.length > 0) socket.write(upstreamHead)
      if (head.length > 0) upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    }

    function decline(answer: IncomingMessage): void {
      if (!pass(answer, readAnswerHead, ['connection', 'close'])) return void answer.destroy()
      socket.resume()
      socket.once('finish', () => endConnection(socket))
      pipeline(answer, socket, (error) => {
        if (error) socket.destroy()
      })
    }

    socket.on('close', () => outgoing.destroy())
    outgoing.on('upgrade', (answer, upstream, upstreamHead) => {
      settle()
      faults.contain(socket, () => agree(answer, upstream, upstreamHead))
    })
    outgoing.on('response', (answer) => faults.contain(socket, () => decline(answer)))
    outgoing.on('error', fail)
    outgoing.end()
  }

  return { handle, handleUpgrade }
}

/** Through the tunnel, the hub's forwarding headers name the visitor; in the local network they could be forged. */
function requestHeaders(
  incoming: IncomingMessage,
  target: URL,
  isTunnel: boolean,
  trusting: TrustingApplication | undefined,
): Record<string, string | string[]> {
  const isHopByHop = hopByHopIn(incoming.rawHeaders)
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined && !isHopByHop(name) && (isTunnel || !saysWhoAsks(name))) headers[name] = value
  const { host = '' } = incoming.headers
  const forwarded = {
    'x-forwarded-for': incoming.socket.remoteAddress ?? '',
    'x-forwarded-host': host,
    'x-forwarded-proto': 'http',
  }
  for (const [name, value] of Object.entries(forwarded)) headers[name] ??= value
  nameByOwnAddress(headers, target, [host, headers['x-forwarded-host']])
  headers['host'] = target.host
  dropOwnCookies(headers)
  if (trusting) replaceIdentityHeaders(headers, trusting, isTunnel)
  // Without a length, a body of any method needs `Transfer-Encoding`.
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked'
  return headers
}

/**
 * Rewrites addresses of this origin like Host, because applications compare the two: Origin and Referer for their own
 * pages, Destination and If of WebDAV (RFC 4918 §10.3, §10.4) for their own files. Many compare Origin with
 * X-Forwarded-Host, where there is one, so with an Origin of this one that has the application's address too; without
 * it has the visitor's, from which applications make links.
 */
function nameByOwnAddress(headers: Record<string, string | string[]>, target: URL, ownHosts: unknown[]): void {
  const renamed = (address: string): string => {
    const { host, origin } = URL.canParse(address) ? new URL(address) : {}
    return origin !== undefined && ownHosts.includes(host) && address.toLowerCase().startsWith(origin)
      ? `${target.origin}${address.slice(origin.length)}`
      : address
  }
  const { origin } = headers
  for (const name of ['origin', 'referer', 'destination']) {
    const value = headers[name]
    if (typeof value === 'string') headers[name] = renamed(value)
  }
  if (headers['origin'] !== origin) {
    headers['x-forwarded-host'] = target.host
    headers['x-forwarded-proto'] = target.protocol.slice(0, -1)
  }
  const condition = headers['if']
  if (typeof condition === 'string')
    headers['if'] = condition.replace(/<([^<>]*)>/g, (_whole, address: string) => `<${renamed(address)}>`)
}

/** Applications must not see the session of this device's own interface. */
function dropOwnCookies(headers: Record<string, string | string[]>): void {
  const { cookie } = headers
  if (typeof cookie !== 'string') return
  const cookies = cookie.split(';').filter((part) => !isOwnCookie(part.trim()))
  if (cookies.length === 0) delete headers['cookie']
  else headers['cookie'] = cookies.join(';').trim()
}

/**
 * The answer's headers without hop-by-hop and proxy ones, and with the application's address replaced by this one's.
 */
function answerHeaders(raw: readonly string[], target: URL): string[] {
  const isHopByHop = hopByHopIn(raw)
  return headerPairs(raw).flatMap(([name, value]) => {
    if (isHopByHop(name) || ordersAProxy(name)) return []
    const isOwnAddress = /^(?:content-)?location$/i.test(name) && value.startsWith(`${target.origin}/`)
    return [name, isOwnAddress ? value.slice(target.origin.length) : value]
  })
}
