import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { DeviceCall } from '@hedgerow/contract'
import type { z } from 'zod'
import type { Clip } from '../sources/source.ts'
import { sendFile, sendJson } from './answer.ts'
import { Refusal } from './errors.ts'
import { pathOf, readBody, readParams, readQuery } from './request.ts'

type DeviceCalls = Readonly<Record<string, DeviceCall>>

type OutputOf<C, Key extends string> = C extends Record<Key, infer S extends z.ZodType> ? z.output<S> : undefined
type Answer<C> = C extends { media: string }
  ? Clip
  : C extends { response: infer S extends z.ZodType }
    ? z.output<S>
    : void

/**
 * The input of calls that answer with files: `signal` aborts when the caller is gone or has waited long enough; `range`
 * is RFC 9110 §14.2.
 */
type FileWanted = { signal: AbortSignal; range?: string }
type Input<C, Caller> = {
  caller: Caller
  params: OutputOf<C, 'params'>
  query: OutputOf<C, 'query'>
  body: OutputOf<C, 'body'>
  request: IncomingMessage
  /** For setting headers; the dispatcher sends the answer. */
  response: ServerResponse
} & (C extends { media: string } ? FileWanted : object)

export type Handlers<Calls extends DeviceCalls, Caller> = {
  [N in keyof Calls]: (input: Input<Calls[N], Caller>) => Answer<Calls[N]> | Promise<Answer<Calls[N]>>
}

export type DispatcherOptions<Calls extends DeviceCalls, Caller> = {
  /** Comes before each path of the contract. */
  base: string
  calls: Calls
  handlers: Handlers<Calls, Caller>
  /** Returns the caller, before anything of the call is read. Throws `Refusal`. */
  authorise(request: IncomingMessage, name: keyof Calls): Caller | Promise<Caller>
  /** The callers have limits of their own for files. */
  filesWithoutLimit?: true
  log: Logger
}

export type Dispatcher = {
  owns(path: string): boolean
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
}

/** Each file keeps a camera or an application busy. */
const FILES_AT_ONCE = 8
const FILE_TIMEOUT_MS = 30_000

export function createDispatcher<Calls extends DeviceCalls, Caller>(
  options: DispatcherOptions<Calls, Caller>,
): Dispatcher {
  const { base, calls, handlers, filesWithoutLimit = false, log } = options
  const routes = Object.entries(calls).map(([name, { method, path }]) => ({
    name,
    method,
    segments: path.slice(1).split('/'),
  }))
  let filesUnderWay = 0

  /** A path that exists for another method is refused for its method. */
  function findRoute(method: string | undefined, path: string): { name: string; params: Record<string, string> } {
    const given = path.slice(base.length + 1).split('/')
    const matching = routes.filter(
      ({ segments }) =>
        segments.length === given.length &&
        segments.every((segment, index) => segment.startsWith(':') || segment === given[index]),
    )
    if (matching.length === 0) throw new Refusal('not_found')
    const route = matching.find((candidate) => candidate.method === method)
    if (!route) throw new Refusal('method_not_allowed')
    const params = route.segments.flatMap((segment, index) =>
      segment.startsWith(':') ? [[segment.slice(1), decode(given[index]!)]] : [],
    )
    return { name: route.name, params: Object.fromEntries(params) as Record<string, string> }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, params: given } = findRoute(request.method, pathOf(request))
    const caller = await options.authorise(request, name)
    const call = calls[name]!
    const params = call.params && readParams(given, call.params)
    const query = call.query ? readQuery(request, call.query) : undefined
    const body = call.body ? await readBody(request, call.body, call.bodyOptional) : undefined
    const input = { caller, params, query, body, request, response }
    // The schemas of each call have parsed the input of its handler.
    const handle = handlers[name] as (input: object) => unknown
    if (call.media !== undefined) return answerFile(input, handle as (input: object) => Promise<Clip>)
    const result = await handle(input)
    if (result === undefined) response.writeHead(204, { 'cache-control': 'no-store' }).end()
    else sendJson(response, 200, result)
  }

  async function answerFile(
    input: { request: IncomingMessage; response: ServerResponse },
    read: (input: object) => Promise<Clip>,
  ): Promise<void> {
    const { request, response } = input
    if (!filesWithoutLimit && filesUnderWay >= FILES_AT_ONCE) throw new Refusal('too_many_requests')
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = filesWithoutLimit
      ? gone.signal
      : AbortSignal.any([gone.signal, AbortSignal.timeout(FILE_TIMEOUT_MS)])
    const { range } = request.headers
    filesUnderWay += 1
    try {
      await sendFile(response, await read({ ...input, signal, ...(range !== undefined && { range }) }))
    } finally {
      filesUnderWay -= 1
    }
  }

  return {
    owns: (path) => path === `${base}/v1` || path.startsWith(`${base}/v1/`),
    async handle(request, response) {
      try {
        await answer(request, response)
      } catch (error) {
        const refusal = error instanceof Refusal ? error : new Refusal('internal_error')
        // Callers who leave end their files in the middle.
        if (!(error instanceof Refusal || response.destroyed)) log.error({ err: error }, 'a call to the device failed')
        if (response.headersSent) {
          response.destroy()
          return
        }
        if (refusal.code === 'token_required') response.setHeader('www-authenticate', 'Bearer')
        if (refusal.status === 429) response.setHeader('retry-after', String(refusal.retryAfterSeconds))
        if (!request.complete) response.setHeader('connection', 'close')
        sendJson(response, refusal.status, refusal.body)
      }
    },
  }
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new Refusal('not_found')
  }
}
