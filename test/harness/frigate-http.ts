import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FrigateCaller, FrigateSignIn } from './frigate-sign-in.ts'
import {
  clipOf,
  configShape,
  eventShape,
  FULL_VERSION,
  jpegOf,
  reviewShape,
  statsShape,
  type CameraSettings,
  type FrigateVersion,
  type ReviewItem,
  type TrackedObject,
} from './frigate-shapes.ts'

export type FrigateRequest = {
  /** `WS` for a message over a WebSocket; then the path is its topic. */
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** Undefined for a request that was refused. */
  caller: FrigateCaller | undefined
  isInternal: boolean
}

export type FrigateBehaviour = {
  /** Delays each answer by this much. */
  delayMs: number
  /** While set, it answers requests whose path matches. */
  answer: { path: RegExp; with(request: IncomingMessage, response: ServerResponse): void } | undefined
  /** When true, accepted WebSockets send nothing and answer no ping. */
  isMute: boolean
  /** Pads saved snapshots by this many bytes. */
  snapshotPaddingBytes: number
  /** How far its clock is ahead of this machine's. */
  clockAheadMs: number
}

type State = {
  version: FrigateVersion
  cameras: Map<string, CameraSettings>
  reviews: Map<string, ReviewItem>
  objects: Map<string, TrackedObject>
  requests: FrigateRequest[]
  behaviour: FrigateBehaviour
  signIn: FrigateSignIn
}

type Answer = { status?: number; type?: string; body: unknown }

/** A page that shows the role that Frigate gives the caller. */
const PAGE = `<!doctype html><title>Frigate</title><h1>Frigate</h1><p id="who"></p>
<script>fetch('/api/profile').then((a) => a.json()).then((who) => (document.all.who.textContent = who.role))</script>`

/** The part of Frigate's HTTP API that its clients use, on both ports. */
export function createFrigateHttp(state: State) {
  const { version, cameras, reviews, objects, behaviour } = state

  function answer(path: string, query: URLSearchParams, method: string, caller: FrigateCaller): Answer {
    const [root, name = '', ...rest] = path.split('/')
    if (path === 'version') return { type: 'text/plain', body: FULL_VERSION[version] }
    if (path === 'profile') return { body: { username: caller.user, role: caller.role } }
    if (path === 'stats') return { body: statsShape(version, cameras, 12.4) }
    if (path === 'config') return { body: configShape(version, cameras) }
    if (path === 'config/set' && method === 'PUT')
      return caller.role === 'admin' ? { body: { success: true } } : { status: 403, body: { detail: 'Access denied.' } }
    if (path === 'review') return { body: list(query) }
    if (root === 'review') return review(name, rest.join('/'))
    if (root === 'events') return event(name, rest.join('/'), query)
    const camera = cameras.get(root ?? '')
    if (camera && name === 'latest.jpg') return jpeg(`latest ${root} ${query.get('h') ?? ''}`)
    if (camera && name === 'start') return recording(root ?? '', Number(rest[0]), Number(rest[2]))
    return missing('Not found')
  }

  /** Entries that overlap the time from `after` to `before`, newest first. */
  function list(query: URLSearchParams): unknown[] {
    const [after, before] = [Number(query.get('after') ?? 0), Number(query.get('before') ?? Infinity)]
    const found = [...reviews.values()].filter(
      ({ startTime, endTime }) => startTime < before && (endTime === null || endTime > after),
    )
    const newest = found.toSorted((a, b) => b.startTime - a.startTime).slice(0, Number(query.get('limit') ?? Infinity))
    return newest.map((item) => ({ ...reviewShape(version, item), has_been_reviewed: false }))
  }

  function review(id: string, part: string): Answer {
    const item = reviews.get(id)
    if (!item) return missing('Review item not found')
    if (part === '') return { body: reviewShape(version, item) }
    if (part === 'clip.mp4' && version === '0.18') return { type: 'video/mp4', body: clipOf(40_000) }
    return missing('Not found')
  }

  function event(id: string, part: string, query: URLSearchParams): Answer {
    const object = objects.get(id)
    if (!object) return missing('Event not found')
    if (part === '') return { body: eventShape(version, object) }
    if (part === 'thumbnail.jpg') return jpeg(`thumbnail ${id}`)
    if (part !== 'snapshot.jpg') return missing('Not found')
    if (!object.hasSnapshot) return missing('Snapshot not available')
    // Before 0.18, height and crop apply only while the object is tracked; afterwards the saved file is sent as it is.
    const isSaved = object.endTime !== null && version !== '0.18'
    return jpeg(`snapshot ${id}`, isSaved || !query.has('height') ? behaviour.snapshotPaddingBytes : 0)
  }

  function recording(camera: string, start: number, end: number): Answer {
    if (!cameras.get(camera)?.record)
      return { status: 400, body: { success: false, message: 'No recordings found for the specified time range' } }
    return { type: 'video/mp4', body: clipOf(Math.round((end - start) * 1_000)) }
  }

  return async (request: IncomingMessage, response: ServerResponse, isInternal: boolean): Promise<void> => {
    const { method = 'GET', headers, url: path = '/' } = request
    const url = new URL(path, 'http://frigate')
    const caller = state.signIn.callerOf(request, isInternal)
    state.requests.push({ method, path, headers, caller, isInternal })
    const body = Buffer.concat(await request.toArray())
    response.setHeader('date', new Date(Date.now() + behaviour.clockAheadMs).toUTCString())
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs)
    if (behaviour.answer?.path.test(path)) return behaviour.answer.with(request, response)
    if (path === '/api/login') return login(response, body.toString())
    // The sign-in page is public.
    if (path === '/login') return send(response, { type: 'text/html', body: PAGE })
    if (!caller) return send(response, { status: 401, type: 'text/html', body: '<h1>401 Authorization Required</h1>' })
    if (path === '/') return send(response, { type: 'text/html', body: PAGE })
    if (!url.pathname.startsWith('/api/')) return send(response, missing('Not found'))
    const inside = url.pathname.slice('/api/'.length).split('/').map(decodeURIComponent).join('/')
    send(response, answer(inside, url.searchParams, method, caller))
  }

  function login(response: ServerResponse, text: string): void {
    const { user, password } = JSON.parse(text) as { user: string; password: string }
    const cookie = state.signIn.login(user, password)
    if (cookie === undefined) return send(response, { status: 401, body: { message: 'Login failed' } })
    response.setHeader('set-cookie', cookie)
    send(response, { type: 'text/plain', body: '' })
  }
}

function jpeg(note: string, paddingBytes = 0): Answer {
  return { type: 'image/jpeg', body: jpegOf(note, paddingBytes) }
}

function missing(message: string): Answer {
  return { status: 404, body: { success: false, message } }
}

/** Clips are sent in chunks without a length or ranges: Frigate streams them from FFmpeg. */
function send(response: ServerResponse, { status = 200, type = 'application/json', body }: Answer): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  response.writeHead(status, {
    'content-type': type,
    ...(type !== 'video/mp4' && { 'content-length': bytes.length }),
  })
  response.end(bytes)
}
