/**
 * The target of the hub's own answer on a gateway's origin: an exchange, or the connection of a refused WebSocket.
 */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { endConnection, wholeAnswer, type Exchange } from '@hedgerow/http'

export type Reply = {
  /** Whether an answer can still be sent. */
  isOpen(): boolean
  send(status: number, headers: Record<string, string | number | string[]>, body?: string): void
  cut(): void
}

export function replyTo(exchange: Exchange): Reply {
  return {
    isOpen: () => exchange.isOpen && !exchange.isSent,
    send(status, headers, body = '') {
      const bytes = Buffer.from(body)
      exchange.start({
        status,
        reason: STATUS_CODES[status] ?? '',
        headers: ['Content-Length', String(bytes.length), ...listOf(headers)],
      })
      exchange.write(bytes)
      exchange.end()
    },
    cut: () => exchange.cut(),
  }
}

/** For a connection that has left HTTP; it ends with this answer. */
export function replyOn(socket: Duplex): Reply {
  let isGiven = false
  return {
    isOpen: () => !isGiven && !socket.destroyed && socket.writable,
    send(status, headers, body = '') {
      isGiven = true
      endConnection(socket, wholeAnswer(status, STATUS_CODES[status] ?? '', listOf(headers), body))
    },
    cut: () => void socket.destroy(),
  }
}

/** As a raw header list. */
function listOf(headers: Record<string, string | number | string[]>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [String(value)]).flatMap((one) => [name, one]),
  )
}
