/**
 * The device's HTTP API for its owner's programs: they report detections and state, read what the device sees, and
 * switch deterrents. It answers on the device's network only, never through the tunnel, and refuses browsers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createBuckets, type Rate } from '@hedgerow/http'
import type { Logger } from 'pino'
import type { DeviceFile } from '../device-file/schema.ts'
import type { Clip } from '../sources/source.ts'
import { API_PATH, callOf, localCalls, localErrors } from './calls.ts'
import { createHandlers, type FileCall, type FileWanted, type HandlersOptions } from './handlers.ts'
import { openApiDocument } from './openapi.ts'
import { authorise, pathOf, readBody, readQuery, Refusal } from './request.ts'
import { sendFile, sendJson } from './answer.ts'

export type LocalApiOptions = HandlersOptions & {
  file(): DeviceFile
  /** What the commands of this device show (agent-file.ts). */
  agentToken: string
  version: string
  log: Logger
}

export type LocalApi = {
  owns(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Twice the calls of ten cameras with five detections a second each, sent one by one. Stops runaway loops. */
const RATE: Rate = { burst: 200, perSecond: 100 }
/** All programs share one bucket. */
const PROGRAMS = [{ key: 'programs', share: 1 }]
/** Each keeps a camera or an application busy. */
const FILES_AT_ONCE = 8
const FILE_TIMEOUT_MS = 30_000

type CallName = keyof typeof localCalls
type Route = { name: CallName; method: string; segments: string[] }

const routes: Route[] = (Object.keys(localCalls) as CallName[]).map((name) => {
  const { method, path } = callOf(name)
  return { name, method, segments: path.slice(1).split('/') }
})

export function createLocalApi(options: LocalApiOptions): LocalApi {
  const { log } = options
  const handlers = createHandlers(options)
  const buckets = createBuckets(RATE, PROGRAMS.length)
  let filesUnderWay = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request)
    if (path === `${API_PATH}/openapi.json`) {
      if (request.method !== 'GET') throw new Refusal('method_not_allowed')
      return sendJson(response, 200, openApiDocument(options.version))
    }
    const { name, params } = findRoute(request.method, path)
    authorise(request, options.file(), options.agentToken)
    if (buckets.waitMs(PROGRAMS, performance.now()) > 0) throw new Refusal('too_many_requests')
    buckets.add(PROGRAMS, -1)
    const call = callOf(name)
    const query = call.query ? readQuery(request, call.query) : {}
    if (isFileCall(name))
      return answerFile(request, response, (wanted) => handlers.files[name](params[0]!, { ...query, ...wanted }))
    const body = call.body ? await readBody(request, call.body, call.bodyOptional) : undefined
    // Each handler takes what the schemas of its own call gave.
    const handle = handlers.json[name] as (input: { params: string[]; query: unknown; body: unknown }) => unknown
    sendJson(response, 200, await handle({ params, query, body }))
  }

  async function answerFile(
    request: IncomingMessage,
    response: ServerResponse,
    read: (wanted: FileWanted) => Promise<Clip>,
  ): Promise<void> {
    if (filesUnderWay >= FILES_AT_ONCE) throw new Refusal('too_many_requests')
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(FILE_TIMEOUT_MS)])
    const { range } = request.headers
    filesUnderWay += 1
    try {
      await sendFile(response, await read({ ...(range !== undefined && { range }), signal }))
    } finally {
      filesUnderWay -= 1
    }
  }

  return {
    owns: (path) => path === API_PATH || path.startsWith(`${API_PATH}/`),
    async handle(request, response) {
      try {
        await answer(request, response)
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal('internal_error')
        if (!(error instanceof Refusal)) log.error({ err: error }, 'a call to the local API failed')
        if (response.headersSent) {
          response.destroy()
          return
        }
        const { status, message } = localErrors[refusal.code]
        if (status === 401) response.setHeader('www-authenticate', 'Bearer')
        if (status === 429) response.setHeader('retry-after', '1')
        if (!request.complete) response.setHeader('connection', 'close')
        sendJson(response, status, { error: refusal.code, message, ...refusal.details })
      }
    },
  }
}

function isFileCall(name: CallName): name is FileCall {
  return callOf(name).media !== undefined
}

/** A path that another method has is refused for the method. */
function findRoute(method: string | undefined, path: string): { name: CallName; params: string[] } {
  const given = path.slice(API_PATH.length + 1).split('/')
  const matching = routes.filter(
    ({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, index) => segment.startsWith(':') || segment === given[index]),
  )
  if (matching.length === 0) throw new Refusal('not_found')
  const route = matching.find((candidate) => candidate.method === method)
  if (!route) throw new Refusal('method_not_allowed')
  const params = given.filter((_segment, index) => route.segments[index]!.startsWith(':')).map(decode)
  return { name: route.name, params }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal('not_found')
  }
}
