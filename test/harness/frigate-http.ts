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
  /** When true, FFmpeg fails for each clip: an answer 200 without a body (api/media.py:454-472). */
  clipsFail: boolean
  /** The saved picture without drawings: WebP, and PNG in 0.16. Undefined when none was saved. */
  cleanSnapshot: Buffer | undefined
  /** Cameras that send one picture again and again. */
  stuck: Set<string>
  /** When an offline camera was last filmed for a preview, in seconds since 1970; undefined without a preview. */
  previewAt: number | undefined
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

type Answer = { status?: number; type?: string; body: unknown; headers?: Record<string, string> }

/** Its nginx keeps answers 200 for this long, by address and caller (docker, nginx.conf:254-260). */
const CACHE_MS = 5_000

/** A page that shows the role that Frigate gives the caller. */
const PAGE = `<!doctype html><title>Frigate</title><h1>Frigate</h1><p id="who"></p>
<script>fetch('/api/profile').then((a) => a.json()).then((who) => (document.all.who.textContent = who.role))</script>`

/** The part of Frigate's HTTP API that its clients use, on both ports. */
export function createFrigateHttp(state: State) {
  const { version, cameras, reviews, objects, behaviour, signIn } = state
  /** How many newest pictures it has sent. */
  let pictures = 0
  const cache = new Map<string, { answer: Answer; until: number }>()

  function answer(path: string, query: URLSearchParams, method: string, caller: FrigateCaller): Answer {
    const [root = '', name = '', ...rest] = path.split('/')
    if (path === 'version') return { type: 'text/plain', body: FULL_VERSION[version] }
    if (path === 'profile') return profile(caller)
    if (path === 'stats') return { body: statsShape(version, cameras, 12.4) }
    if (path === 'config') return { body: configShape(version, cameras) }
    if (path === 'config/set' && method === 'PUT')
      return caller.role === 'admin' ? { body: { success: true } } : denied('Access denied.')
    if (path === 'review') return { body: list(query, caller) }
    const camera = root === 'review' ? reviews.get(name)?.camera : root === 'events' ? objects.get(name)?.camera : root
    if (root === 'preview') return preview(name, rest)
    if (camera !== undefined && !signIn.maySee(caller, camera)) return denied(`Access denied to camera '${camera}'.`)
    if (root === 'review') return review(name, rest.join('/'))
    if (root === 'events') return event(name, rest.join('/'), query)
    const settings = cameras.get(root)
    if (settings && name === 'latest.jpg') return latest(root, settings, query)
    if (settings && name === 'start') return recording(root, Number(rest[0]), Number(rest[2]))
    return missing('Not found')
  }

  /** Since 0.17 with the cameras of the role (api/auth.py:792). */
  function profile(caller: FrigateCaller): Answer {
    const { user: username, role } = caller
    const allowed = [...cameras.keys()].filter((camera) => signIn.maySee(caller, camera))
    return { body: { username, role, ...(version !== '0.16' && { allowed_cameras: allowed }) } }
  }

  /**
   * `height` is its only measure, and `quality` that of the JPEG (api/defs/query/media_query_parameters.py:19). Without
   * a new picture, 0.18 sends the last preview (api/media.py:195-253), and earlier versions a picture that says that
   * there is none.
   */
  function latest(camera: string, { fps, enabled }: CameraSettings, query: URLSearchParams): Answer {
    if (enabled && fps > 0) {
      const light = behaviour.stuck.has(camera) ? 0 : ++pictures
      return { type: 'image/jpeg', body: lit(jpegOf(`latest ${camera} ${query.get('height') ?? ''}`), light) }
    }
    if (version !== '0.18' || behaviour.previewAt === undefined) return jpeg(`camera-error ${camera}`)
    return { ...jpeg(`preview ${camera}`), headers: { 'x-frigate-offline': 'true' } }
  }

  /** The names of cached previews in a range of time (api/preview.py:164); each has its time. */
  function preview(camera: string, [, from, , to, kind]: string[]): Answer {
    const at = behaviour.previewAt
    if (kind !== 'frames') return missing('Not found')
    const isWithin = at !== undefined && at >= Number(from) && at <= Number(to)
    return { body: isWithin ? [`preview_${camera}-${at - 60}.webp`, `preview_${camera}-${at}.webp`] : [] }
  }

  /** Entries that overlap the time from `after` to `before`, newest first (api/review.py:72-155). */
  function list(query: URLSearchParams, caller: FrigateCaller): unknown[] {
    const now = Date.now() / 1_000 + behaviour.clockAheadMs / 1_000
    const [after, before] = [Number(query.get('after') ?? now - 86_400), Number(query.get('before') ?? now)]
    const found = [...reviews.values()].filter(
      ({ camera, startTime, endTime }) =>
        startTime < before && (endTime === null || endTime > after) && signIn.maySee(caller, camera),
    )
    const newest = found.toSorted((a, b) => b.startTime - a.startTime).slice(0, Number(query.get('limit') ?? Infinity))
    return newest.map((item) => ({ ...reviewShape(version, item), has_been_reviewed: false }))
  }

  function review(id: string, part: string): Answer {
    const item = reviews.get(id)
    if (!item) return missing('Review item not found')
    if (part === '') return { body: reviewShape(version, item) }
    if (part === 'clip.mp4' && version === '0.18') return clip(40_000)
    return missing('Not found')
  }

  function event(id: string, part: string, query: URLSearchParams): Answer {
    const object = objects.get(id)
    if (!object) return missing('Event not found')
    if (part === '') return { body: eventShape(version, object) }
    if (part === 'thumbnail.jpg') return jpeg(`thumbnail ${id}`)
    const clean = part === `snapshot-clean.${version === '0.16' ? 'png' : 'webp'}`
    if (part !== 'snapshot.jpg' && !clean) return missing('Not found')
    if (!object.hasSnapshot) return missing('Snapshot not available')
    if (clean && !behaviour.cleanSnapshot) return missing('Clean snapshot not available')
    if (clean) return { type: `image/${part.slice(-4)}`, body: behaviour.cleanSnapshot }
    return snapshot(object, query)
  }

  /**
   * Box, label, score and time are drawn unless the query says no (api/media.py:133-148; `snapshots.bounding_box` is
   * true by default). Before 0.18, an object that has ended has the file as it was saved, whatever the query says.
   */
  function snapshot({ id, endTime }: TrackedObject, query: URLSearchParams): Answer {
    const isSaved = endTime !== null && version !== '0.18'
    const isOn = (name: string, usually: boolean) => (query.has(name) ? query.get(name) === '1' : usually)
    const [box, time] = isSaved ? [true, false] : [isOn('bbox', version === '0.18'), isOn('timestamp', false)]
    const padding = isSaved || !query.has('height') ? behaviour.snapshotPaddingBytes : 0
    return {
      ...jpeg(`snapshot ${id}${box ? ' with box' : ''}${time ? ' with time' : ''}`, padding),
      headers: {
        'cache-control': endTime === null ? 'no-store' : 'private, max-age=31536000',
        ...(version === '0.18' && { 'x-frame-time': '1' }),
      },
    }
  }

  function recording(camera: string, start: number, end: number): Answer {
    if (!cameras.get(camera)?.record)
      return { status: 400, body: { success: false, message: 'No recordings found for the specified time range' } }
    return clip(Math.round((end - start) * 1_000))
  }

  function clip(bytes: number): Answer {
    return { type: 'video/mp4', body: behaviour.clipsFail ? Buffer.alloc(0) : clipOf(bytes) }
  }

  /** Pictures and statistics are not cached, and `X-Cache-Bypass` asks for a new answer. */
  function answerOrCached(path: string, url: URL, request: IncomingMessage, caller: FrigateCaller): Answer {
    const { method = 'GET', headers } = request
    const isKept = method === 'GET' && path !== 'stats' && !/\.(?:jpg|png|webp|mp4)$/.test(path)
    if (!isKept) return answer(path, url.searchParams, method, caller)
    const key = `${url.pathname}${url.search} ${caller.user} ${caller.role}`
    const kept = cache.get(key)
    if (kept && kept.until > Date.now() && headers['x-cache-bypass'] === undefined) return kept.answer
    const made = answer(path, url.searchParams, method, caller)
    // What the state was then, and not what it becomes.
    const frozen = { ...made, body: structuredClone(made.body) }
    if ((made.status ?? 200) === 200) cache.set(key, { answer: frozen, until: Date.now() + CACHE_MS })
    return made
  }

  return async (request: IncomingMessage, response: ServerResponse, isInternal: boolean): Promise<void> => {
    const { method = 'GET', headers, url: path = '/' } = request
    const url = new URL(path, 'http://frigate')
    const caller = signIn.callerOf(request, isInternal)
    state.requests.push({ method, path, headers, caller, isInternal })
    const body = Buffer.concat(await request.toArray())
    response.setHeader('date', new Date(Date.now() + behaviour.clockAheadMs).toUTCString())
    if (behaviour.delayMs > 0) await sleep(behaviour.delayMs)
    if (behaviour.answer?.path.test(path)) return behaviour.answer.with(request, response)
    if (path === '/api/login') return login(response, body.toString())
    // The sign-in page is public.
    if (path === '/login') return send(response, { type: 'text/html', body: PAGE })
    if (!caller) return send(response, refused())
    if (path === '/') return send(response, { type: 'text/html', body: PAGE })
    if (!url.pathname.startsWith('/api/')) return send(response, missing('Not found'))
    const inside = url.pathname.slice('/api/'.length).split('/').map(decodeURIComponent).join('/')
    send(response, answerOrCached(inside, url, request, caller))
  }

  /** With sign-in, a refusal names the page for it (api/auth.py:680). */
  function refused(): Answer {
    return {
      status: 401,
      type: 'text/html',
      body: '<h1>401 Authorization Required</h1>',
      ...(signIn.isEnabled && { headers: { location: '/login' } }),
    }
  }

  function login(response: ServerResponse, text: string): void {
    if (!signIn.isEnabled) return send(response, { status: 404, body: { message: 'Authentication is disabled' } })
    const { user, password } = JSON.parse(text) as { user: string; password: string }
    const cookie = signIn.login(user, password)
    if (cookie === undefined) return send(response, { status: 401, body: { message: 'Login failed' } })
    response.setHeader('set-cookie', cookie)
    send(response, { type: 'text/plain', body: '' })
  }
}

function jpeg(note: string, paddingBytes = 0): Answer {
  return { type: 'image/jpeg', body: jpegOf(note, paddingBytes) }
}

/** In another light: the first step of its quantization (ITU-T T.81 §B.2.4.1) differs. */
function lit(picture: Buffer, light: number): Buffer {
  const table = picture.indexOf(Buffer.from([0xff, 0xdb]))
  picture[table + 5] = 4 + (light % 12)
  return picture
}

function denied(detail: string): Answer {
  return { status: 403, body: { detail } }
}

function missing(message: string): Answer {
  return { status: 404, body: { success: false, message } }
}

/** Clips are sent in chunks without a length or ranges: Frigate streams them from FFmpeg. */
function send(response: ServerResponse, { status = 200, type = 'application/json', body, headers }: Answer): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  response.writeHead(status, {
    'content-type': type,
    ...headers,
    ...(type !== 'video/mp4' && { 'content-length': bytes.length }),
  })
  response.end(bytes)
}
