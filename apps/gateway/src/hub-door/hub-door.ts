/**
 * The hub's own door to this device: HTTP on port 8081 of the tunnel, for pictures and commands. It has no
 * socket in the local network, and only the hub is inside the tunnel, so the tunnel authenticates the caller.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { doorCommand, PICTURE_AGE_HEADER, type Detection } from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import { createConnectionLimits, createFront, cutConnections, GatheredBytes, type Faults } from '@hedgerow/http'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { inWords } from '../kernel/failure.ts'
import { ClipNotFinished, type Jpeg, type Pictures } from '../sources/source.ts'
import type { Learning } from '../learning/learning.ts'
import { createCommands, type CommandedDeterrents, type CommandedLearning } from './commands.ts'

export type HubDoorOptions = {
  deterrents: CommandedDeterrents
  learning: CommandedLearning & Pick<Learning, 'report'>
  pictures: Pictures
  /** Finds the detection in the device's own record. */
  find(detectionId: string): Detection | undefined
  /** The picture that the detection came with. */
  thumbnail(detectionId: string): Jpeg | undefined
  faults: Faults
  log: Logger
  /** Milliseconds of a clock that never jumps. */
  monotonic?: () => number
}

export type HubDoor = {
  /** Serves a connection from the tunnel. */
  accept(connection: Duplex): void
  /** Ends every connection at once. */
  stop(): void
}

const CONNECTIONS_MAX = 64
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
const BODY_MAX_BYTES = 256 * 1024
const HEIGHT_MAX = 4_320
/** Only these headers of a clip's answer are forwarded. */
const CLIP_HEADERS = ['content-length', 'content-range', 'accept-ranges']

const refusals = {
  invalid_request: [400, 'The request is not valid.'],
  not_found: [404, 'This device has nothing of that name.'],
  not_finished: [409, 'It is still being filmed.'],
  method_not_allowed: [405, 'This address takes another method.'],
  unavailable: [502, 'The source of these pictures did not give one.'],
  internal_error: [500, "The call failed. The agent's log has the details."],
} as const

class Refusal extends Error {
  readonly code: keyof typeof refusals
  constructor(code: keyof typeof refusals, message: string = refusals[code][1]) {
    super(message)
    this.code = code
  }
}

type Exchange = { request: IncomingMessage; response: ServerResponse; url: URL; name: string; signal: AbortSignal }
type Route = { method: 'GET' | 'POST'; path: RegExp; answer(exchange: Exchange): Promise<void> }

export function createHubDoor(options: HubDoorOptions): HubDoor {
  const { pictures, log } = options
  const commands = createCommands(options)

  const routes: readonly Route[] = [
    {
      method: 'POST',
      path: /^\/v1\/tickets$/,
      answer: async ({ response }) => sendJson(response, 200, { ticket: commands.issueTicket() }),
    },
    {
      method: 'POST',
      path: /^\/v1\/commands$/,
      async answer({ request, response }) {
        const command = await readBody(request, doorCommand)
        const outcome = await commands.carryOut(command)
        log.info({ action: command.action, deterrent: command.deterrent, by: command.by, outcome }, 'a command')
        sendJson(response, 200, outcome)
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/learning$/,
      answer: async ({ response }) => sendJson(response, 200, options.learning.report()),
    },
    {
      method: 'GET',
      path: /^\/v1\/cameras\/([^/]+)\/latest\.jpg$/,
      async answer({ response, url, name, signal }) {
        const height = heightOf(url)
        const latest = await asked(pictures.latest(name, { signal, ...(height !== undefined && { height }) }))
        if (latest?.ageMs !== undefined) response.setHeader(PICTURE_AGE_HEADER, Math.round(latest.ageMs))
        sendPicture(response, latest?.jpeg)
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/detections\/([^/]+)\/snapshot\.jpg$/,
      async answer({ response, url, name, signal }) {
        const detection = findDetection(name)
        const boxed = url.searchParams.get('boxed') === 'true'
        const jpeg = await pictures.snapshot(detection, { boxed, signal }).catch((error: unknown) => {
          log.info({ err: error, detection: name }, 'no snapshot: the thumbnail is sent instead')
          return undefined
        })
        sendPicture(response, jpeg ?? options.thumbnail(name))
      },
    },
    {
      method: 'GET',
      path: /^\/v1\/detections\/([^/]+)\/clip\.mp4$/,
      async answer({ request, response, name, signal }) {
        const { range } = request.headers
        const clip = await asked(pictures.clip(findDetection(name), { signal, ...(range !== undefined && { range }) }))
        if (!clip) throw new Refusal('not_found')
        const headers = Object.entries(clip.headers).filter(([header]) => CLIP_HEADERS.includes(header.toLowerCase()))
        response.writeHead(clip.status, { ...Object.fromEntries(headers), 'content-type': 'video/mp4' })
        await pipeline(clip.body, response)
      },
    },
  ]

  function findDetection(id: string): Detection {
    const detection = options.find(id)
    if (!detection) throw new Refusal('not_found')
    return detection
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const left = new AbortController()
    response.once('close', () => left.abort())
    try {
      const url = new URL(request.url ?? '/', 'http://door')
      const found = routes.flatMap((route) => {
        const match = route.path.exec(url.pathname)
        return match ? [{ route, name: decode(match[1] ?? '') }] : []
      })[0]
      if (!found) throw new Refusal('not_found')
      if (request.method !== found.route.method) throw new Refusal('method_not_allowed')
      await found.route.answer({ request, response, url, name: found.name, signal: left.signal })
    } catch (error) {
      if (response.headersSent) return void response.destroy()
      const refusal = error instanceof Refusal ? error : new Refusal('internal_error')
      if (!(error instanceof Refusal)) log.error({ err: error }, 'a call of the hub failed')
      if (!request.complete) response.setHeader('connection', 'close')
      sendJson(response, refusals[refusal.code][0], { error: refusal.code, message: refusal.message })
    }
  }

  const server: Server = createFront({
    limits: createConnectionLimits({ perSource: CONNECTIONS_MAX, total: CONNECTIONS_MAX, sourceOf: (from) => from }),
    faults: options.faults,
    handle: (request, response) => void answer(request, response),
    deadlines: { headersMs: HEADERS_TIMEOUT_MS, requestMs: REQUEST_TIMEOUT_MS },
  })
  return {
    accept: (connection) => void server.emit('connection', connection),
    stop: () => cutConnections(server),
  }
}

/** A source rejects with the error of the camera or application behind it. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ClipNotFinished) throw new Refusal('not_finished')
    throw new Refusal('unavailable', `${refusals.unavailable[1]} ${inWords(error)}`)
  }
}

function heightOf(url: URL): number | undefined {
  const text = url.searchParams.get('height')
  if (text === null) return undefined
  const height = Number(text)
  if (!Number.isInteger(height) || height < 1 || height > HEIGHT_MAX) throw new Refusal('invalid_request')
  return height
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal('invalid_request')
  }
}

async function readBody<S extends z.ZodType>(request: IncomingMessage, schema: S): Promise<z.output<S>> {
  const body = new GatheredBytes()
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    body.add(part)
    if (body.length > BODY_MAX_BYTES) throw new Refusal('invalid_request')
  }
  const read = readJson(body.take())
  const parsed = schema.safeParse(read.problem ? undefined : read.value)
  if (!parsed.success) throw new Refusal('invalid_request')
  return parsed.data
}

function sendPicture(response: ServerResponse, jpeg: Jpeg | undefined): void {
  if (!jpeg) throw new Refusal('not_found')
  response.writeHead(200, { 'content-type': 'image/jpeg', 'content-length': jpeg.length, 'cache-control': 'no-store' })
  response.end(jpeg)
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}
