/**
 * Carries one HTTP exchange between a browser and a gateway, streaming both ways: each side is read only as fast as the
 * other reads, and the end of one ends the other. Bytes that arrive together are written together, so that a small
 * answer is one packet. Called by gateway-proxy.ts once a request is allowed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { addTrailers, AnswerReader, checkHeaders, sendEarlyHints, type AnswerHead } from '@hedgerow/http'
import { GatewayTimeout } from './failures.ts'
import type { ConnectionUser, GatewayConnection, Pool } from './gateway-connections.ts'
import { requestHead } from './request-head.ts'

/** How long a gateway may make no progress: no byte of the upload read, no answer begun. */
export const PROGRESS_TIMEOUT_MS = 60_000
const WITHOUT_BODY = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
const SAFE_TO_REPEAT = new Set(['GET', 'HEAD', 'OPTIONS'])
/** A body up to this is joined with its head: copying it costs less than a second write. */
const SMALL_BODY_BYTES = 16 * 1024

export type Exchange = {
  pool: Pool
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
  const headers = exchange.headers
  if (isChunked) headers.push('Transfer-Encoding', 'chunked')
  else if (!hasBody && !WITHOUT_BODY.has(method) && req.headers['content-length'] === undefined)
    headers.push('Content-Length', '0')
  const asked = requestHead(method, req.url ?? '/', headers)

  let connection: GatewayConnection | undefined
  let mayRepeat = !hasBody && SAFE_TO_REPEAT.has(method)
  let isUploaded = !hasBody
  let hasBegun = false
  let isAnswered = false
  /** The head of the answer, until everything that arrived with it has been read. */
  let head: AnswerHead | undefined
  let firstBody: Buffer | undefined

  const reader = new AnswerReader(
    { method },
    {
      onHead(its) {
        clearTimeout(timer)
        hasBegun = true
        its.headers = exchange.answerHeaders(its.headers)
        checkHeaders(its.headers)
        head = its
      },
      onBody(bytes) {
        if (head && !firstBody) {
          firstBody = bytes
          return
        }
        writeBeginning()
        writeBody(bytes)
      },
      onEnd(trailers) {
        isAnswered = true
        addTrailers(res, trailers)
      },
      onEarlyHints: (headers) => sendEarlyHints(res, headers),
    },
  )
  const timer = setTimeout(
    () => exchange.contain(() => fail(new GatewayTimeout({ isBusy: connection === undefined }))),
    exchange.progressTimeoutMs,
  )

  function leaveConnection(): void {
    withdraw()
    connection?.destroy()
    connection = undefined
  }

  function fail(reason: Error): void {
    clearTimeout(timer)
    leaveConnection()
    // The rest of an upload is read and dropped, so that the browser reads the answer.
    req.resume()
    if (res.destroyed || res.writableEnded) return
    if (res.headersSent) res.destroy()
    else exchange.onUnreachable(reason)
  }

  function writeBody(bytes: Buffer): void {
    if (!res.write(bytes)) connection?.pause()
  }

  function writeBeginning(): void {
    if (!head) return
    res.writeHead(head.status, head.reason, head.headers)
    if (firstBody) writeBody(firstBody)
    else res.flushHeaders()
    head = firstBody = undefined
  }

  /** Writes what was read, and ends what is complete. */
  function passOn(): void {
    if (isAnswered && head && (firstBody?.length ?? 0) <= SMALL_BODY_BYTES) {
      res.writeHead(head.status, head.reason, head.headers)
      // Node joins a head with a string and not with a buffer.
      res.end(firstBody?.toString('latin1'), 'latin1')
      head = firstBody = undefined
    } else {
      writeBeginning()
      if (isAnswered && !res.writableEnded) res.end()
    }
    if (isAnswered && isUploaded) giveBack()
  }

  function giveBack(): void {
    if (!connection) return
    if (reader.isReusable) {
      const free = connection
      connection = undefined
      free.release(reader.keptSeconds)
    } else leaveConnection()
  }

  /** Whether the gateway closed an idle connection as this request was sent: then it never saw the request. */
  function repeat(): boolean {
    if (!mayRepeat || !connection?.isReused || res.headersSent || res.destroyed) return false
    leaveConnection()
    mayRepeat = false
    withdraw = exchange.pool.take(user, { fresh: true })
    return true
  }

  const user: ConnectionUser = {
    onConnection(its) {
      connection = its
      its.write(asked)
      if (hasBody) exchange.contain(upload)
    },
    onBytes(bytes) {
      mayRepeat = false
      exchange.contain(() => {
        if (isAnswered) return leaveConnection()
        try {
          reader.read(bytes)
        } catch (error) {
          return fail(error as Error)
        }
        passOn()
      })
    },
    onDrain: () => void req.resume(),
    onEnd() {
      if (isAnswered) return leaveConnection()
      if (repeat()) return
      exchange.contain(() => {
        try {
          reader.end()
        } catch {
          return fail(new Error('the gateway closed the connection before its answer was complete'))
        }
        passOn()
      })
    },
    onClose(error) {
      if (isAnswered || repeat()) return
      exchange.contain(() => fail(error ?? new Error('the gateway gave no answer')))
    },
  }

  function upload(): void {
    req.on('data', (chunk: Buffer) => {
      if (!connection) return
      if (!hasBegun) timer.refresh()
      if (isChunked) connection.write(`${chunk.length.toString(16)}\r\n`)
      let hasRoom = connection.write(chunk)
      if (isChunked) hasRoom = connection.write('\r\n')
      if (!hasRoom) req.pause()
    })
    req.once('end', () => {
      isUploaded = true
      if (isChunked) connection?.write('0\r\n\r\n')
      if (isAnswered) giveBack()
    })
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
  res.on('drain', () => connection?.resume())
  res.once('close', () => {
    if (!res.writableFinished) leaveConnection()
    settle()
  })

  let withdraw = (): void => {}
  withdraw = exchange.pool.take(user)

  return () => {
    leaveConnection()
    req.socket.destroy()
  }
}
