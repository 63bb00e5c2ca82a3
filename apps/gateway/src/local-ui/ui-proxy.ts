import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { pipeline, type Duplex } from 'node:stream'
import { HOP_BY_HOP_HEADERS, namedByConnection, saysWhoAsks } from '@hedgerow/contract'
import type { Logger } from 'pino'
import { inWords } from '../hub/failure.ts'

/** The device's own application behind the gateway's address: every request and WebSocket but the gateway's own pages. */
export type UiProxy = {
  handle(request: IncomingMessage, response: ServerResponse, isTunnel: boolean): void
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, isTunnel: boolean): void
}

/** With neither a byte of the upload taken nor an answer begun for this long, an application hangs. */
const ANSWER_TIMEOUT_MS = 60_000

export function createUiProxy(target: URL, log: Logger): UiProxy {
  const request = target.protocol === 'https:' ? httpsRequest : httpRequest
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1')

  function open(incoming: IncomingMessage, headers: Record<string, string | string[]>) {
    const outgoing = request({
      host,
      port: target.port || (target.protocol === 'https:' ? 443 : 80),
      method: incoming.method,
      path: incoming.url,
      headers,
      agent: false,
      // An application on the device itself (Frigate, say) signs its own certificate, and nothing lies in between.
      rejectUnauthorized: !isLoopback(host),
    })
    const timer = setTimeout(() => outgoing.destroy(new Error('it has not answered within 60 s')), ANSWER_TIMEOUT_MS)
    let isAnswered = false
    const settle = () => {
      isAnswered = true
      clearTimeout(timer)
    }
    for (const event of ['response', 'error']) outgoing.once(event, settle)
    outgoing.once('close', () => {
      clearTimeout(timer)
      // Node ends a request silently at an answer 101 that nobody listens for.
      if (!isAnswered) outgoing.emit('error', new Error('it gave no answer'))
    })
    const progressed = () => {
      if (!isAnswered) timer.refresh()
    }
    return { outgoing, progressed, settle }
  }

  function handle(incoming: IncomingMessage, response: ServerResponse, isTunnel: boolean): void {
    const { outgoing, progressed } = open(incoming, requestHeaders(incoming, target, isTunnel))
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answerHeaders(answer.headers, target))
      // A failure after the head can only be shown by cutting the answer off.
      pipeline(answer, response, () => {})
    })
    outgoing.on('error', (error) => {
      incoming.unpipe(outgoing)
      incoming.resume()
      if (response.headersSent || response.destroyed) response.destroy()
      else refuse(response, error)
    })
    response.on('close', () => outgoing.destroy())
    incoming.on('error', () => outgoing.destroy())
    incoming.on('data', progressed)
    incoming.pipe(outgoing)
  }

  function refuse(response: ServerResponse, error: Error): void {
    log.warn({ target: target.origin, reason: inWords(error) }, "the device's application does not answer")
    const body = `The device's own application at ${target.origin} does not answer: ${inWords(error)}.\nThe device page is at /device\n`
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }).end(body)
  }

  function handleUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, isTunnel: boolean): void {
    const headers = {
      ...requestHeaders(incoming, target, isTunnel),
      connection: 'upgrade',
      upgrade: incoming.headers.upgrade ?? 'websocket',
    }
    const { outgoing, settle } = open(incoming, headers)
    socket.on('error', () => outgoing.destroy())
    socket.on('close', () => outgoing.destroy())
    outgoing.on('upgrade', (answer, upstream, upstreamHead) => {
      settle()
      socket.write(headText(answer))
      if (upstreamHead.length > 0) socket.write(upstreamHead)
      if (head.length > 0) upstream.write(head)
      // The ends of a WebSocket close together, whichever fails first.
      upstream.on('error', () => socket.destroy())
      upstream.on('close', () => socket.destroy())
      socket.on('close', () => upstream.destroy())
      upstream.pipe(socket).pipe(upstream)
    })
    outgoing.on('response', (answer) => {
      socket.write(headText(answer, { connection: 'close' }))
      pipeline(answer, socket, () => socket.destroy())
    })
    outgoing.on('error', (error) => {
      log.warn({ target: target.origin, reason: inWords(error) }, "the device's application does not answer")
      socket.end('HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    })
    outgoing.end()
  }

  return { handle, handleUpgrade }
}

/** The hub says through the tunnel whom it speaks for; in the local network anybody could say anything. */
function requestHeaders(incoming: IncomingMessage, target: URL, isTunnel: boolean): Record<string, string | string[]> {
  const headers = endToEnd(incoming.headers)
  const { host = '' } = incoming.headers
  const forwarded = {
    'x-forwarded-for': incoming.socket.remoteAddress ?? '',
    'x-forwarded-host': host,
    'x-forwarded-proto': 'http',
  }
  if (!isTunnel) for (const name of Object.keys(headers).filter(saysWhoAsks)) delete headers[name]
  for (const [name, value] of Object.entries(forwarded)) headers[name] ??= value
  // An application that compares Origin with its Host still finds its own pages equal under the rewritten Host.
  const ownHosts = [host, headers['x-forwarded-host']]
  if (ownHosts.includes(hostOf(headers['origin']))) headers['origin'] = target.origin
  headers['host'] = target.host
  // Without a length, a body of any method needs its framing said.
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked'
  return headers
}

function hostOf(origin: string | string[] | undefined): string | undefined {
  return typeof origin === 'string' && URL.canParse(origin) ? new URL(origin).host : undefined
}

function answerHeaders(headers: IncomingHttpHeaders, target: URL): Record<string, string | string[]> {
  const kept = endToEnd(headers)
  const location = kept['location']
  if (typeof location === 'string' && location.startsWith(`${target.origin}/`))
    kept['location'] = location.slice(target.origin.length)
  return kept
}

/** Without the headers that concern one connection, and those that `Connection` names. */
function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const named = namedByConnection(headers.connection ?? '')
  return Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !HOP_BY_HOP_HEADERS.has(entry[0]) && !named.has(entry[0]),
    ),
  )
}

/** The head of an answer as it came, with `replaced` in the place of the headers of this connection. */
function headText(answer: IncomingMessage, replaced?: Record<string, string>): string {
  const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`]
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    const name = answer.rawHeaders[index]!
    if (!replaced || !HOP_BY_HOP_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${answer.rawHeaders[index + 1]}`)
  }
  for (const [name, value] of Object.entries(replaced ?? {})) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
