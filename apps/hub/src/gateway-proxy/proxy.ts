/**
 * Carries one HTTP exchange between a browser and a gateway, streaming both ways: each side is read only as fast as the
 * other reads, and the end of one ends the other. Called by gateway-proxy.ts once a request is allowed.
 */
import { boundInterimAnswers, checkHeaders, readAnswerHead } from '@hedgerow/http'
import { request, type Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'

/** How long a gateway may make no progress: no byte of the upload read, no answer begun. */
export const PROGRESS_TIMEOUT_MS = 60_000
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS'])

export type Exchange = {
  agent: Agent
  /** The raw header list for the gateway. */
  headers: string[]
  /** Turns the gateway's raw header list into the browser's. */
  answerHeaders(raw: readonly string[]): string[]
  progressTimeoutMs: number
  /** Runs `task`; an error ends only this exchange's connection. */
  contain(task: () => void): void
  /** The gateway gave no usable answer; the browser has received nothing yet. */
  onUnreachable(reason: Error): void
  /** Called once, when the whole exchange has ended. */
  onOver(): void
}

/** Starts the exchange. Returns a function that ends it on both sides. */
export function proxyRequest(req: IncomingMessage, res: ServerResponse, exchange: Exchange): () => void {
  const method = req.method ?? 'GET'
  const isChunked = req.headers['transfer-encoding'] !== undefined
  const hasBody = isChunked || Number(req.headers['content-length'] ?? 0) > 0
  const headers = [...exchange.headers]
  if (isChunked) headers.push('Transfer-Encoding', 'chunked')
  else if (!hasBody && !WITHOUT_BODY.has(method) && req.headers['content-length'] === undefined)
    headers.push('Content-Length', '0')

  let upstream: ClientRequest | undefined
  let hasAnswer = false
  const timer = setTimeout(
    () => upstream?.destroy(new Error('the gateway gave no answer in time')),
    exchange.progressTimeoutMs,
  )

  function fail(reason: Error): void {
    clearTimeout(timer)
    req.unpipe()
    req.resume()
    if (res.destroyed || res.writableEnded) return
    if (res.headersSent) res.destroy()
    else exchange.onUnreachable(reason)
  }

  function send(mayRetry: boolean): void {
    const outgoing = request({ agent: exchange.agent, method, path: req.url, headers })
    upstream = outgoing
    boundInterimAnswers(outgoing)
    outgoing.once('response', (incoming) => {
      hasAnswer = true
      exchange.contain(() => answer(incoming))
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The gateway closed an idle connection as this request was sent: it never saw the request.
      const wasStale = outgoing.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      if (mayRetry && wasStale && !res.headersSent && !res.destroyed) return send(false)
      fail(error)
    })
    outgoing.once('close', () => {
      if (outgoing === upstream && !hasAnswer) fail(new Error('the gateway gave no answer'))
    })
    if (hasBody) req.pipe(outgoing)
    else outgoing.end()
  }

  function answer(incoming: IncomingMessage): void {
    clearTimeout(timer)
    incoming.on('error', () => res.destroy())
    incoming.once('close', () => {
      if (!incoming.complete) res.destroy()
    })
    let head
    try {
      head = readAnswerHead(incoming)
      head.headers = exchange.answerHeaders(head.headers)
      checkHeaders(head.headers)
    } catch (error) {
      incoming.destroy()
      return fail(error as Error)
    }
    res.writeHead(head.status, head.reason, head.headers)
    res.flushHeaders()
    incoming.pipe(res)
  }

  let isOver = false
  function settle(): void {
    if (isOver || !res.closed || !(req.complete || req.destroyed)) return
    isOver = true
    clearTimeout(timer)
    exchange.onOver()
  }
  req.on('error', () => {})
  res.on('error', () => {})
  req.once('end', settle)
  req.once('close', settle)
  res.once('close', () => {
    if (!res.writableFinished) upstream?.destroy()
    settle()
  })

  send(!hasBody && SAFE_TO_REPEAT.has(method))
  if (hasBody) req.on('data', () => timer.refresh())

  return () => {
    upstream?.destroy()
    req.socket.destroy()
  }
}
