import { randomBytes } from 'node:crypto'
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
import {
  reviewShape,
  statsShape,
  trackedShape,
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
export type TestFrigate = {
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
  /** Starts a tracked object and a review item now. Returns the review item. A camera has one open item at most. */
  see(seen?: Partial<Seen>): ReviewItem
  /** Starts a tracked object that is in no review item yet, and publishes it on `events`. */
  track(seen?: Partial<Seen>): TrackedObject
  /**
   * Adds another object to a current review item: one of `track`, or a new one. `reviews` says so only when more
   * objects are active than before, or the severity rises (review/maintainer.py:451-460).
   */
  join(review: ReviewItem, seen?: Partial<Seen> | TrackedObject): TrackedObject
  /**
   * The object changed, and `events` says so (track/object_processing.py:130). Its zones become those of its open
   * review item, without a word on `reviews` (review/maintainer.py:445-449).
   */
  move(object: TrackedObject, change?: Partial<TrackedObject>): void
  /** The object left. Nothing is published on `reviews`. */
  leave(object: TrackedObject): void
  /** Publishes a change of an item that Frigate publishes: a higher severity, or a sub label more. */
  update(review: ReviewItem): void
  /** Ends an item: `end` comes some time after `endTime` (review/maintainer.py:493-496), and its objects have left. */
  end(review: ReviewItem, endTime?: number): void
  /** `POST /events/CAMERA/LABEL/create`: no message on `events`, and the item begins with an `update`. */
  create(camera: string, label: string, more?: { subLabel?: string; score?: number }): ReviewItem
  /** A sound without an object: the item begins with an `update` too (review/maintainer.py:727-736). */
  hear(camera: string, sound: string): ReviewItem
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

export type Seen = {
  camera: string
  label: string
  subLabel: string | undefined
  score: number
  /** Null: Frigate's settings want no review item of it. */
  severity: string | null
  box: readonly [number, number, number, number]
  zones: readonly string[]
  startTime: number
  hasSnapshot: boolean
  positionChanges: number
}

export type FrigateOptions = {
  version?: FrigateVersion
  cameras?: Record<string, Partial<CameraSettings>>
  access?: Partial<FrigateAccess>
}

const CAMERA: CameraSettings = {
  enabled: true,
  record: true,
  fps: 5.1,
  width: 1280,
  height: 720,
  detect: true,
  alerts: true,
  detections: true,
  zones: ['gate', 'rows'],
}
/** An item ends so many seconds after the last activity (config/camera/review.py:46,80). */
const CUTOFF_SECONDS: Readonly<Record<string, number>> = { alert: 40, detection: 30 }

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
  }
  const { cert, key, fingerprint } = await (certificate ??= makeSelfSigned())
  const signIn = createFrigateSignIn(options.access ?? {})
  const http = createFrigateHttp({ version, cameras, reviews, objects, requests, behaviour, signIn })
  const sockets = new WebSocketServer({ noServer: true, autoPong: false })
  const viewers = new Map<WebSocket, FrigateCaller>()
  const connections = new Set<Duplex>()
  /** The open item of each camera. */
  const open = new Map<string, ReviewItem>()
  /** How many objects the last picture of an item showed. */
  const shown = new Map<ReviewItem, number>()
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
   * role may not see (comms/ws.py:367-412). Nothing is retained but what Frigate itself retains (comms/dispatcher.py:393).
   */
  function publish(topic: string, payload: unknown): void {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    const about = topic === 'events' || topic === 'reviews' ? cameraIn(payload) : topic.split('/')[0]!
    const message = JSON.stringify({ topic, payload: text })
    for (const [viewer, caller] of viewers)
      if (!behaviour.isMute && (!cameras.has(about) || signIn.maySee(caller, about)))
        viewer.send(message)
    broker?.publish(`frigate/${topic}`, text, { retain: false })
  }

  function publishRaw(text: string): void {
    if (!behaviour.isMute) for (const viewer of viewers.keys()) viewer.send(text)
  }

  function tell(type: 'new' | 'update' | 'end', item: ReviewItem, before = item): void {
    shown.set(item, Math.max(shown.get(item) ?? 0, item.objects.filter(({ endTime }) => endTime === null).length))
    publish('reviews', { type, before: reviewShape(version, before), after: reviewShape(version, item) })
  }

  function tellObject(type: 'new' | 'update' | 'end', object: TrackedObject): void {
    const shape = trackedShape(version, object, cameras.get(object.camera) ?? CAMERA)
    // Before it is sure, Frigate says nothing: the first message is `new` (track/object_processing.py:137).
    publish('events', { type, before: { ...shape, false_positive: type === 'new' }, after: shape })
  }

  function track(seen: Partial<Seen>): TrackedObject {
    const startTime = seen.startTime ?? Date.now() / 1_000
    const score = seen.score ?? 0.87
    const object: TrackedObject = {
      id: `${startTime.toFixed(6)}-${randomBytes(3).toString('hex')}`,
      camera: seen.camera ?? 'orchard',
      label: seen.label ?? 'boar',
      subLabel: seen.subLabel,
      score,
      topScore: score,
      box: seen.box ?? [0.25, 0.5, 0.125, 0.25],
      currentZones: seen.zones ?? [],
      zones: seen.zones ?? [],
      startTime,
      endTime: null,
      hasSnapshot: seen.hasSnapshot ?? true,
      stationary: false,
      positionChanges: seen.positionChanges ?? 2,
      severity: seen.severity === undefined ? 'alert' : seen.severity,
      by: 'object',
    }
    objects.set(object.id, object)
    tellObject('new', object)
    return object
  }

  function openItem(camera: string, more: Partial<ReviewItem>): ReviewItem {
    if (open.has(camera)) throw new Error(`Frigate has one open review item of a camera: join the one of ${camera}`)
    if (!cameras.get(camera)?.record) throw new Error(`Frigate has no review items of ${camera}: it records nothing of it`)
    const startTime = more.startTime ?? Date.now() / 1_000
    const item: ReviewItem = {
      id: `${startTime.toFixed(6)}-r${randomBytes(3).toString('hex')}`,
      camera,
      severity: 'alert',
      startTime,
      endTime: null,
      zones: [],
      objects: [],
      audio: [],
      ...more,
    }
    reviews.set(item.id, item)
    open.set(camera, item)
    return item
  }

  function zonesOf(item: ReviewItem): string[] {
    return [...new Set([...item.zones, ...item.objects.flatMap(({ currentZones }) => currentZones)])]
  }

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
    see(seen = {}) {
      const object = track(seen)
      const { camera, startTime, zones } = object
      const severity = object.severity ?? 'detection'
      const item = openItem(camera, { startTime, severity, zones: [...zones], objects: [object] })
      tell('new', item)
      return item
    },
    track: (seen = {}) => track(seen),
    join(item, seen = {}) {
      const known = 'topScore' in seen ? seen : undefined
      const object = known ?? track({ camera: item.camera, ...(seen as Partial<Seen>) })
      const before = { ...item }
      item.objects.push(object)
      item.zones = zonesOf(item)
      if (object.severity === 'alert') item.severity = 'alert'
      const active = item.objects.filter(({ endTime }) => endTime === null).length
      if (item.severity !== before.severity || active > (shown.get(item) ?? 0)) tell('update', item, before)
      return object
    },
    move(object, change = {}) {
      Object.assign(object, change)
      object.topScore = Math.max(object.topScore, object.score)
      object.currentZones = change.zones ?? object.currentZones
      tellObject('update', object)
      const item = open.get(object.camera)
      if (item?.objects.includes(object)) item.zones = zonesOf(item)
    },
    leave(object) {
      object.endTime = Date.now() / 1_000
      tellObject('end', object)
    },
    update: (item) => tell('update', item),
    end(item, endTime = Math.max(item.startTime, Date.now() / 1_000 - (CUTOFF_SECONDS[item.severity] ?? 30))) {
      for (const object of item.objects) {
        if (object.endTime !== null || object.by !== 'object') continue
        object.endTime = endTime
        tellObject('end', object)
      }
      item.endTime = endTime
      open.delete(item.camera)
      tell('end', item)
    },
    create(camera, label, { subLabel, score = 0 } = {}) {
      const startTime = Date.now() / 1_000
      const object: TrackedObject = {
        id: `${startTime.toFixed(6)}-${randomBytes(3).toString('hex')}`,
        camera,
        label,
        subLabel,
        score,
        topScore: score,
        box: [0, 0, 1, 1],
        currentZones: [],
        zones: [],
        startTime,
        endTime: null,
        hasSnapshot: true,
        stationary: false,
        positionChanges: 0,
        severity: 'alert',
        by: 'api',
      }
      objects.set(object.id, object)
      const item = openItem(camera, { startTime, objects: [object] })
      tell('update', item)
      return item
    },
    hear(camera, sound) {
      const item = openItem(camera, { severity: 'detection', audio: [sound] })
      tell('update', item)
      return item
    },
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
      const now = Date.now() / 1_000
      for (const item of open.values()) item.endTime = now
      for (const object of objects.values()) object.endTime ??= now
      open.clear()
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
  const { after } = (payload ?? {}) as { after?: { camera?: unknown } | null }
  return typeof after?.camera === 'string' ? after.camera : ''
}
