/**
 * The target of the hub's own answer on a gateway's origin: an HTTP response, or the connection of a refused WebSocket.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { endConnection, wholeAnswer } from '@hedgerow/http'

export type Reply = {
  /** Whether an answer can still be sent. */
  isOpen(): boolean
  send(status: number, headers: Record<string, string | number | string[]>, body?: string): void
  cut(): void
}

export function replyTo(res: ServerResponse): Reply {
  return {
    isOpen: () => !res.headersSent && !res.destroyed,
    send(status, headers, body = '') {
      // With the status's own reason phrase, whatever was set before.
      res.writeHead(status, STATUS_CODES[status] ?? '', { 'Content-Length': Buffer.byteLength(body), ...headers })
      res.end(body)
    },
    cut: () => void res.destroy(),
  }
}

/** For a connection that has left HTTP; it ends with this answer. */
export function replyOn(socket: Duplex): Reply {
  let isGiven = false
  return {
    isOpen: () => !isGiven && !socket.destroyed && socket.writable,
    send(status, headers, body = '') {
      isGiven = true
      const list = Object.entries(headers).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [String(value)]).flatMap((one) => [name, one]),
      )
      endConnection(socket, wholeAnswer(status, STATUS_CODES[status] ?? '', list, body))
    },
    cut: () => void socket.destroy(),
  }
}
