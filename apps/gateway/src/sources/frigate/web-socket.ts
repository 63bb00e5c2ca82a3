import { setTimeout as sleep } from 'node:timers/promises'
import { inWords } from '../../kernel/failure.ts'
import type { FrigateClient } from './client.ts'
import { noAnswer, refusal, type FrigateError } from './failure.ts'
import { MESSAGE_BYTES_MAX } from './messages.ts'
import type { FrigateSettings } from './schema.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000
/** When nothing came within this time after a ping, the connection is dead. */
const PING_MS = 20_000

/**
 * One WebSocket to Frigate: resolves when `signal` is aborted, and rejects with FrigateError otherwise. `onMessage`
 * gets the text of each message.
 */
export async function listenToWebSocket(options: {
  client: FrigateClient
  settings: FrigateSettings
  signal: AbortSignal
  pingMs?: number
  onOpen(): void
  onMessage(text: Buffer): void
}): Promise<void> {
  const { client, settings, signal, pingMs = PING_MS } = options
  // Loaded here, because it loads zlib too: a gateway without Frigate saves the memory.
  const { WebSocket } = await import('ws')
  const { headers, connection } = await client.forWebSocket(signal)
  const address = new URL('/ws', client.url)
  address.protocol = connection ? 'wss:' : 'ws:'
  const socket = new WebSocket(address, {
    headers,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    maxPayload: MESSAGE_BYTES_MAX,
    perMessageDeflate: false,
    followRedirects: false,
    ...(connection && { createConnection: () => connection as never }),
  })
  const ended = Promise.withResolvers<FrigateError | undefined>()
  let isAlive = true
  let failure: FrigateError | undefined
  socket.on('unexpected-response', (request, answer) => {
    const hasSession = Object.hasOwn(headers, 'authorization')
    failure = refusal(answer.statusCode ?? 0, { ...settings, hasSession })
    if (answer.statusCode === 401) client.dropSession()
    answer.destroy()
    request.destroy()
    socket.terminate()
  })
  socket.on('open', options.onOpen)
  socket.on('message', (data, isBinary) => {
    isAlive = true
    if (!isBinary && Buffer.isBuffer(data)) options.onMessage(data)
  })
  socket.on('pong', () => (isAlive = true))
  socket.on('error', (error) => (failure ??= noAnswer(inWords(error))))
  socket.on('close', () => ended.resolve(failure ?? noAnswer('it ended the connection')))
  const abort = () => {
    ended.resolve(undefined)
    socket.terminate()
  }
  signal.addEventListener('abort', abort)
  const pings = setInterval(() => {
    if (isAlive && socket.readyState === WebSocket.OPEN) socket.ping()
    else if (!isAlive) {
      failure = noAnswer(`nothing within ${Math.round(pingMs / 1_000)} s`)
      socket.terminate()
    }
    isAlive = false
  }, pingMs)
  try {
    if (signal.aborted) abort()
    const error = await ended.promise
    if (error) throw error
  } finally {
    clearInterval(pings)
    signal.removeEventListener('abort', abort)
    // The socket's last events may still arrive.
    await sleep(0)
  }
}
