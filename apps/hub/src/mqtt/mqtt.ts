/**
 * One connection to the operator's MQTT broker. Nothing is queued while there is none. A broker that sends too much or
 * does not answer loses the connection.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { createPacketGuard } from '@hedgerow/http'
import type { IPublishPacket } from 'mqtt'
import { hostOf, mayBePublic, publicOnly } from '../http/public-hosts.ts'

const CONNECT_TIMEOUT_MS = 10_000
const KEEPALIVE_SECONDS = 30
/** How long the broker may take to acknowledge a message. */
const ANSWER_TIMEOUT_MS = 10_000
/** Commands and a broker's answers are smaller. */
const PACKET_MAX_BYTES = 16 * 1024
const MESSAGES_A_SECOND = 100

export type BrokerSettings = {
  /** mqtt:// or mqtts://, without a sign-in. */
  url: string
  username: string | undefined
  password: string | undefined
  /** The CA certificates for the broker in PEM, instead of Node's. */
  ca: string | undefined
  /** The hub's topics are below it. */
  topic: string
  /** The prefix of the topics where Home Assistant looks for devices. */
  discovery: string
  /** The broker must be on the Internet, and no error tells one private name from another. */
  onlyPublic: boolean
}

export type Received = { topic: string; payload: Buffer; retained: boolean }

export type Broker = {
  /** Resolves when the broker has acknowledged it (QoS 1). */
  publish(topic: string, payload: string | Buffer, options?: { retain?: boolean }): Promise<void>
  /** With QoS 0, so that a broker repeats nothing. */
  subscribe(topics: readonly string[]): Promise<void>
  unsubscribe(topics: readonly string[]): Promise<void>
  /** Resolves when the connection has ended, with the reason in words. */
  ended: Promise<string>
  /** A clean end: the broker drops the last will. */
  close(): Promise<void>
}

/** Rejects with the reason in words. */
export async function connectBroker(
  settings: BrokerSettings,
  { will, onMessage, signal }: { will?: string; onMessage?: (message: Received) => void; signal?: AbortSignal } = {},
): Promise<Broker> {
  // Loaded here: most hubs have no broker.
  const { MqttClient } = await import('mqtt')
  const { ca, onlyPublic } = settings
  const url = new URL(settings.url)
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  let whyEnded: string | undefined
  const end = (reason: string) => {
    whyEnded ??= reason
    resolve(whyEnded)
  }
  const fail = (reason: string) => end(`The broker at ${url.host} ${reason}.`)
  const unanswered = (error: Error) => fail(onlyPublic ? 'cannot be reached' : `does not answer: ${reasonOf(error)}`)
  if (onlyPublic && !mayBePublic(hostOf(url))) throw new Error(`The broker at ${url.host} cannot be reached.`)
  const client = new MqttClient(() => openSocket(url, { ca, onlyPublic, unanswered, fail }), {
    protocolVersion: 4,
    clean: true,
    reconnectPeriod: 0,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepalive: KEEPALIVE_SECONDS,
    queueQoSZero: false,
    ...(settings.username !== undefined && { username: settings.username }),
    ...(settings.password !== undefined && { password: settings.password }),
    ...(will !== undefined && { will: { topic: will, payload: Buffer.from('offline'), qos: 1, retain: true } }),
  })
  const mayArrive = atMostASecond(MESSAGES_A_SECOND)
  client.on('message', (topic, payload, { retain }: IPublishPacket) => {
    if (mayArrive()) onMessage?.({ topic, payload, retained: retain })
    else fail(`sent more than ${MESSAGES_A_SECOND} messages in a second`)
  })
  client.on('error', (error) => (isRefusal(error) ? fail('refuses the username or the password') : unanswered(error)))
  client.on('close', () => fail('ended the connection'))
  const abort = () => end('The hub stops.')
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  void ended.then(() => client.end(true))

  /** Rejects with the reason when the connection ends first, or the broker takes too long. */
  async function within<T>(work: Promise<T>): Promise<T> {
    const timer = setTimeout(() => fail(`took no message for ${ANSWER_TIMEOUT_MS / 1_000} s`), ANSWER_TIMEOUT_MS)
    try {
      return await Promise.race([work, ended.then((reason) => Promise.reject(new Error(reason)))])
    } catch (error) {
      throw whyEnded === undefined ? error : new Error(whyEnded)
    } finally {
      clearTimeout(timer)
    }
  }

  try {
    await within(new Promise<void>((connected) => client.once('connect', () => connected())))
  } catch (error) {
    signal?.removeEventListener('abort', abort)
    throw error
  }
  return {
    async publish(topic, payload, { retain = false } = {}) {
      await within(client.publishAsync(topic, payload, { qos: 1, retain }))
    },
    async subscribe(topics) {
      const granted = await within(client.subscribeAsync([...topics], { qos: 0 }))
      const refused = granted.find(({ qos }) => qos === 128)
      if (refused) throw new Error(`The broker at ${url.host} does not let the hub read ${refused.topic}.`)
    },
    async unsubscribe(topics) {
      await within(client.unsubscribeAsync([...topics]))
    },
    ended,
    async close() {
      signal?.removeEventListener('abort', abort)
      if (client.connected) await client.endAsync(false).catch(() => {})
      end('The hub ended the connection.')
    },
  }
}

function openSocket(
  url: URL,
  {
    ca,
    onlyPublic,
    unanswered,
    fail,
  }: {
    ca: string | undefined
    onlyPublic: boolean
    unanswered: (error: Error) => void
    fail: (reason: string) => void
  },
): Socket {
  const isTls = url.protocol === 'mqtts:'
  const host = hostOf(url)
  const port = Number(url.port || (isTls ? 8883 : 1883))
  const to = { host, port, ...(onlyPublic && publicOnly(host)) }
  const socket = isTls
    ? connectTls({ ...to, ...(isIP(host) === 0 && { servername: host }), ...(ca !== undefined && { ca }) })
    : connectPlain(to)
  socket.on('error', unanswered)
  const count = createPacketGuard(PACKET_MAX_BYTES)
  socket.prependListener('data', (bytes: Buffer) => {
    if (count(bytes)) return
    fail(`sent a message of more than ${PACKET_MAX_BYTES / 1_024} KiB`)
    socket.destroy()
  })
  return socket
}

/** True at most `limit` times in a second. */
function atMostASecond(limit: number): () => boolean {
  let [since, count] = [-Infinity, 0]
  return () => {
    const now = performance.now()
    if (now - since >= 1_000) [since, count] = [now, 0]
    count++
    return count <= limit
  }
}

/** MQTT 3.1.1 §3.2.2.3. */
const isRefusal = (error: Error): boolean => 'code' in error && (error.code === 4 || error.code === 5)

/** `ECONNREFUSED`, `ENOTFOUND`, `DEPTH_ZERO_SELF_SIGNED_CERT`, … */
function reasonOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message.replace(/\.$/, '')
}
