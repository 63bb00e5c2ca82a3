import type { Duplex } from 'node:stream'
import { headerPairs } from './forwarding.ts'

/** How long the peer may take to receive an answer and to close, before the connection is cut. */
export const LINGER_MS = 2_000

/**
 * Writes the last bytes, if any, and closes the connection when both sides have ended, at the latest after `lingerMs`.
 * Until then it reads and drops arriving bytes, because a reset would discard the answer in transit.
 */
export function endConnection(socket: Duplex, bytes: string | Buffer = '', lingerMs: number = LINGER_MS): void {
  if (socket.destroyed) return
  if (!socket.writable) return void socket.destroy()
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(timer))
  socket.once('end', () => {
    if (socket.writableFinished) socket.destroy()
    else socket.once('finish', () => socket.destroy())
  })
  if (bytes.length > 0) socket.end(bytes, 'latin1')
  else socket.end()
  socket.resume()
}

/** The bytes of an answer that ends its connection. `head` is the header list without framing. */
export function wholeAnswer(status: number, reason: string, head: readonly string[], body: string): string {
  const lines = [`HTTP/1.1 ${status} ${reason}`]
  for (const [name, value] of headerPairs(head)) lines.push(`${name}: ${value}`)
  const bytes = Buffer.from(body)
  lines.push(`Content-Length: ${bytes.length}`, 'Connection: close')
  return `${lines.join('\r\n')}\r\n\r\n${bytes.toString('latin1')}`
}
