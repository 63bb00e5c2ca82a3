import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { connectAsync, type MqttClient } from 'mqtt'
import { WebSocketServer, type WebSocket } from 'ws'
import { makeSelfSigned } from './frigate-certificate.ts'
import { createFrigateHttp, type FrigateBehaviour, type FrigateRequest } from './frigate-http.ts'
import { createFrigateSignIn, type FrigateAccess, type FrigateCaller } from './frigate-sign-in.ts'
import { CAMERA, createScene, type FrigateScene } from './frigate-scene.ts'
import {
  statsShape,
  type CameraSettings,
  type FrigateVersion,
  type ReviewItem,
  type TrackedObject,
} from './frigate-shapes.ts'

/**
 * A server that answers and publishes as the source of Frigate 0.18 does (commit e3fa7018; each place is named with its
 * `file:line`), and as far as they differ as 0.16 and 0.17, without cameras or detectors. On its plain port everybody
 * is an admin, its TLS port requires sign-in, and both serve the HTTP API and the WebSocket. A test decides what it
 * detects and how it misbehaves.
 */
export type TestFrigate = FrigateScene & {
  /** Like port 5000: without sign-in. */
  readonly url: string
  /** Like port 8971: with sign-in, and a certificate of its own. */
  readonly secureUrl: string
  /** SHA-256 of that certificate, in pairs of hexadecimal digits with colons. */
  readonly certificateFingerprint: string
  readonly cameras: Map<string, CameraSettings>
  readonly reviews: Map<string, ReviewItem>
  readonly objects: Map<string, TrackedObject>
  /** Every HTTP request and every WebSocket message of clients, oldest first. */
  readonly requests: FrigateRequest[]
  readonly behaviour: FrigateBehaviour
  /** How many WebSockets are open. */
  viewers(): number
  stats(): void
  /** Publishes to every client of the WebSocket and of the broker. */
  publish(topic: string, payload: unknown): void
  /** Sends these bytes unchanged to every WebSocket. */
  publishRaw(text: string): void
  /** Connects as Frigate's client to a broker and publishes `available`. */
  joinBroker(url: string): Promise<void>
  /** Makes all sessions invalid. */
  endSessions(): void
  /** Ends every connection; the WebSockets' owners see it at once. */
  cut(): void
  /** Stops listening; later detections are stored but not published. */
  stop(): Promise<void>
  /** Listens again on the same ports. */
  start(): Promise<void>
  /** Stops and starts: open items get an end without a message (comms/dispatcher.py:175), and its objects are gone. */
  restart(): Promise<void>
}

export type FrigateOptions = {
  version?: FrigateVersion
  cameras?: Record<string, Partial<CameraSettings>>
  access?: Partial<FrigateAccess>
}

/** One for all of a process: dozens of tests start a Frigate, and few look at its certificate. */
let certificate: ReturnType<typeof makeSelfSigned> | undefined

export async function startFrigate(options: FrigateOptions = {}): Promise<TestFrigate> {
  const { version = '0.17' } = options
  const named = Object.entries(options.cameras ?? { orchard: {}, yard: {} })
  const cameras = new Map(named.map(([name, settings]) => [name, { ...CAMERA, ...settings }]))
  const reviews = new Map<string, ReviewItem>()
  const objects = new Map<string, TrackedObject>()
  const requests: FrigateRequest[] = []
  const behaviour: FrigateBehaviour = {
    delayMs: 0,
    answer: undefined,
    isMute: false,
    snapshotPaddingBytes: 0,
    clockAheadMs: 0,
    clipsFail: false,
    cleanSnapshot: undefined,
    previewAt: undefined,
    stuck: new Set(),
  }
  const { cert, key, fingerprint } = await (certificate ??= makeSelfSigned())
  const signIn = createFrigateSignIn(options.access ?? {})
  const http = createFrigateHttp({ version, cameras, reviews, objects, requests, behaviour, signIn })
  const sockets = new WebSocketServer({ noServer: true, autoPong: false })
  const viewers = new Map<WebSocket, FrigateCaller>()
  const connections = new Set<Duplex>()
  let broker: MqttClient | undefined

  function createPort(isInternal: boolean): Server {
    const handle = (request: IncomingMessage, response: ServerResponse) => http(request, response, isInternal)
    const server = isInternal ? createServer(handle) : createSecureServer({ cert, key }, handle)
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const caller = signIn.callerOf(request, isInternal)
      requests.push({ method: 'GET', path: request.url ?? '', headers: request.headers, caller, isInternal })
      const status = caller ? '404 Not Found' : '401 Unauthorized'
      if (caller && request.url === '/ws')
        sockets.handleUpgrade(request, socket, head, (viewer) => welcome(viewer, caller))
      else socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`)
    })
    for (const event of ['connection', 'secureConnection'])
      server.on(event, (socket: Duplex) => {
        connections.add(socket)
        socket.on('error', () => {}).on('close', () => connections.delete(socket))
      })
    return server
  }

  function welcome(viewer: WebSocket, caller: FrigateCaller): void {
    viewers.set(viewer, caller)
    viewer.on('close', () => viewers.delete(viewer)).on('error', () => {})
    viewer.on('ping', (data: Buffer) => {
      if (!behaviour.isMute) viewer.pong(data)
    })
    viewer.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { topic: string; payload: unknown }
      requests.push({ method: 'WS', path: message.topic, headers: {}, caller, isInternal: false })
      if (message.topic === 'onConnect') publish('camera_activity', activity())
    })
  }

  function activity() {
    return Object.fromEntries([...cameras.keys()].map((name) => [name, { config: { detect: true }, objects: [] }]))
  }

  const ports = [createPort(true), createPort(false)] as const
  const known: number[] = [0, 0]

  async function start(): Promise<void> {
    for (const [index, server] of ports.entries()) {
      server.listen(known[index], '127.0.0.1')
      await once(server, 'listening')
      known[index] = (server.address() as AddressInfo).port
    }
  }

  function cut(): void {
    for (const connection of connections) connection.destroy()
  }

  /**
   * Frigate sends the payload as JSON text inside the JSON of the message. A viewer gets nothing of cameras that its
   * role may not see (comms/ws.py:367-412). Nothing is retained but what Frigate itself retains
   * (comms/dispatcher.py:393).
   */
  function publish(topic: string, payload: unknown): void {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const about = topic === 'events' || topic === 'reviews' ? cameraIn(payload) : topic.split('/')[0]!
    const message = JSON.stringify({ topic, payload: text })
    for (const [viewer, caller] of viewers)
      if (!behaviour.isMute && (!cameras.has(about) || signIn.maySee(caller, about))) viewer.send(message)
    broker?.publish(`frigate/${topic}`, text, { retain: false })
  }

  function publishRaw(text: string): void {
    if (!behaviour.isMute) for (const viewer of viewers.keys()) viewer.send(text)
  }

  const { forget: forgetScene, ...scene } = createScene({ version, cameras, reviews, objects, publish })
  await start()
  return {
    url: `http://127.0.0.1:${known[0]}`,
    secureUrl: `https://127.0.0.1:${known[1]}`,
    certificateFingerprint: fingerprint,
    cameras,
    reviews,
    objects,
    requests,
    behaviour,
    viewers: () => viewers.size,
    ...scene,
    stats: () => publish('stats', statsShape(version, cameras, 12.4)),
    publish,
    publishRaw,
    async joinBroker(url) {
      broker = await connectAsync(url, {
        reconnectPeriod: 100,
        will: { topic: 'frigate/available', payload: Buffer.from('offline'), qos: 1, retain: true },
      })
      broker.on('error', () => {})
      await broker.publishAsync('frigate/available', 'online', { retain: true })
      broker.on('connect', () => broker?.publish('frigate/available', 'online', { retain: true }))
    },
    endSessions: signIn.endSessions,
    cut,
    stop,
    start,
    async restart() {
      await stop()
      forgetScene()
      await start()
    },
  }

  async function stop(): Promise<void> {
    const closed = ports.filter((server) => server.listening).map((server) => once(server, 'close'))
    for (const server of ports) server.close()
    cut()
    await Promise.all(closed)
    await broker?.endAsync(true)
    broker = undefined
  }
}

function cameraIn(payload: unknown): string {
  const told = (typeof payload === 'string' ? parsed(payload) : payload) as { after?: { camera?: unknown } } | undefined
  return typeof told?.after?.camera === 'string' ? told.after.camera : ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
