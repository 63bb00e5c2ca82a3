import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createPacketGuard } from '@hedgerow/http'
import { inWords } from '../../kernel/failure.ts'
import { FrigateError } from './failure.ts'
import { MESSAGE_BYTES_MAX } from './messages.ts'
import type { FrigateSettings } from './schema.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEPALIVE_SECONDS = 30
/** The topics of Frigate that are read, below its prefix. */
const TOPICS = ['available', 'events', 'reviews', 'stats', '+/status/+']

/**
 * One connection to the broker that Frigate publishes to: resolves when `signal` is aborted, and rejects with
 * FrigateError otherwise. The payloads are those of the WebSocket; topics come without the prefix.
 */
export async function listenToBroker(options: {
  settings: NonNullable<FrigateSettings['mqtt']>
  signal: AbortSignal
  onOpen(): void
  onMessage(topic: string, payload: Buffer): void
}): Promise<void> {
  const { settings, signal } = options
  const { username, password, topicPrefix } = settings
  // Loaded here: most gateways have no broker.
  const { MqttClient } = await import('mqtt')
  const url = new URL(settings.url)
  const ended = Promise.withResolvers<FrigateError | undefined>()
  const fail = (reason: string) => ended.resolve(new FrigateError(`Frigate's broker does not answer: ${reason}.`))
  const client = new MqttClient(() => openSocket(url, fail), {
    protocolVersion: 4,
    clean: true,
    reconnectPeriod: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEPALIVE_SECONDS,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  })
  client.on('connect', () => {
    const topics = TOPICS.map((topic) => `${topicPrefix}/${topic}`)
    client.subscribe(topics, { qos: 0 }, (error, granted) => {
      if (error || granted?.some(({ qos }) => qos === 128))
        ended.resolve(
          new FrigateError("Frigate's broker does not allow the topics of gateway.yaml to be read.", {
            isLasting: true,
          }),
        )
      else options.onOpen()
    })
  })
  client.on('message', (topic, payload) => options.onMessage(topic.slice(topicPrefix.length + 1), payload))
  client.on('error', (error) =>
    ended.resolve(
      'code' in error && (error.code === 4 || error.code === 5)
        ? new FrigateError("Frigate's broker refuses username or password of gateway.yaml.", {
            isLasting: true,
          })
        : new FrigateError(`Frigate's broker does not answer: ${inWords(error)}.`),
    ),
  )
  client.on('close', () => fail('the connection ended'))
  const abort = () => ended.resolve(undefined)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    const error = await ended.promise
    if (error) throw error
  } finally {
    signal.removeEventListener('abort', abort)
    await client.endAsync(true).catch(() => {})
  }
}

function openSocket(url: URL, fail: (reason: string) => void): Socket {
  const isTls = url.protocol === 'mqtts:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = Number(url.port || (isTls ? 8883 : 1883))
  const socket = isTls ? connectTls({ host, port, servername: host }) : connectPlain({ host, port })
  socket.on('error', (error) => fail(inWords(error)))
  const count = createPacketGuard(MESSAGE_BYTES_MAX)
  socket.prependListener('data', (bytes: Buffer) => {
    if (count(bytes)) return
    fail(`it sent a message of more than ${MESSAGE_BYTES_MAX / 1024} KiB`)
    socket.destroy()
  })
  return socket
}
