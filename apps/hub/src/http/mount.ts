import type { Readable } from 'node:stream'
import { API_BASE, type Call, type ResponseOf } from '@hedgerow/contract'
import { keyOf } from '@hedgerow/contract/calls'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { HubError } from '../kernel/hub-error.ts'
import { findGateway, findIncident, type IncidentRow, type VisibleGateway } from '../access/objects.ts'
import { policy } from '../access/policy.ts'
import { scopeOf, type Capability, type Scope } from '../access/scope.ts'
import type { Caller } from '../access/sessions.ts'
import type { Act } from '../facts/facts.ts'
import type { Db } from '../database/tables.ts'
import { countsAsWrite } from '../access/write-limit.ts'

type Parsed<C, Part extends string> =
  C extends Record<Part, infer Schema extends z.ZodType> ? z.output<Schema> : undefined

/** One request for `C`; its parts have passed their schemas. */
export type HubRequest<C extends Call> = {
  params: Parsed<C, 'params'>
  query: Parsed<C, 'query'>
  body: Parsed<C, 'body'>
  /** Only calls that need a session have one; reading it in another is a bug and throws. */
  readonly caller: Caller
  /** The caller's. */
  readonly scope: Scope
  /** The caller's, for the verb and its facts. */
  readonly act: Act
  /** The one that the path names, which the caller sees; reading it in a call that names none throws. */
  readonly gateway: VisibleGateway
  readonly incident: IncidentRow
  /** The client's address, through trusted proxies; the peer's tunnel address on the tunnel's API. */
  sourceIp: string
  /** The body's raw bytes, for signatures; empty without a body. */
  rawBody: Buffer
  raw: FastifyRequest
  reply: FastifyReply
}

export type MountOptions = {
  /** Refuses before the body is read, for calls without a session. */
  beforeBody?: (request: FastifyRequest) => Promise<void>
  bodyLimitBytes?: number
  /** Refuses the raw body before it is parsed: unsigned bytes never are. */
  verifyBody?: (request: FastifyRequest, body: Buffer) => void
  /** Headers that depend on the answer's exact text, such as its signature. Such an answer is never compressed. */
  answerHeaders?: (answer: string, request: FastifyRequest) => Record<string, string>
  /** For forms that people fill in: the message of an invalid body is the error of its first field. */
  messageOfFirstField?: boolean
}

/** Undefined where the handler has sent the answer, such as a 304. */
type Answer<C extends Call> = C extends { response: null; media?: undefined }
  ? void
  : ResponseOf<C> | Readable | Buffer | (C extends { media: string } ? undefined : never)

type Found = { gateway?: VisibleGateway; incident?: IncidentRow }

/** What an id in a path names. */
const FINDERS: readonly { path: string; find(db: Db, scope: Scope, id: string): Promise<Found> }[] = [
  { path: '/gateways/:id', find: async (db, scope, id) => ({ gateway: await findGateway(db, scope, id) }) },
  { path: '/gateway/:id', find: async (db, scope, id) => ({ gateway: await findGateway(db, scope, id) }) },
  { path: '/incidents/:id', find: async (db, scope, id) => ({ incident: await findIncident(db, scope, id) }) },
]

/**
 * Mounts a call of the contract under /api: authenticates by its line in the policy before the body is read, parses the
 * request, loads what its path names, and sends the handler's result through the response's schema. A handler may
 * answer with bytes or a stream instead, after it set the media type on the reply.
 */
export function mount<C extends Call>(
  app: FastifyInstance,
  call: C,
  handler: (request: HubRequest<C>) => Answer<C> | Promise<Answer<C>>,
  options: MountOptions = {},
): void {
  const key = keyOf(call)
  const access = policy[key]
  if (!access) throw new Error(`${key} has no line in the policy`)
  if (app.surface === 'tunnel' && access !== 'member') throw new Error(`${key} does not belong on the tunnel's API`)
  const { answerHeaders } = options
  const capability = typeof access === 'string' ? undefined : access
  const finder = FINDERS.find(({ path }) => call.path.includes(path))

  app.route({
    method: call.method,
    url: API_BASE + call.path,
    config: { messageOfFirstField: options.messageOfFirstField ?? false, verifyBody: options.verifyBody },
    schema: {
      ...(call.params && { params: call.params }),
      ...(call.query && { querystring: call.query }),
      ...(call.body && { body: call.body }),
      ...(call.response && { response: { '2xx': call.response } }),
    },
    ...(options.bodyLimitBytes && { bodyLimit: options.bodyLimitBytes }),
    ...(answerHeaders && {
      compress: false,
      onSend: async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        if (typeof payload === 'string') reply.headers(answerHeaders(payload, request))
        return payload
      },
    }),
    onRequest: async (request) => {
      if (access === 'gateway' || access === 'member') refuseBrowsers(request)
      if (access === 'anyone') refuseOtherSites(request)
      if (!capability) return options.beforeBody?.(request)
      request.caller = await authenticate(app, request, { capability, call })
      request.allowance = { caller: request.caller, capability }
      if (countsAsWrite(call)) app.limitWrites(request.caller, request.sourceIp)
    },
    handler: async (request, reply) => {
      const { caller, params } = request
      const scope = caller && scopeOf(caller)
      const found = finder && app.db && scope && (await finder.find(app.db, scope, (params as { id: string }).id))
      const given = <T>(value: T | undefined, what: string): T => {
        if (value === undefined) throw new Error(`${key} has no ${what}`)
        return value
      }
      const answer = await handler({
        params: params as Parsed<C, 'params'>,
        query: request.query as Parsed<C, 'query'>,
        body: request.body as Parsed<C, 'body'>,
        get caller() {
          return given(caller, 'session')
        },
        get scope() {
          return given(scope, 'session')
        },
        get act() {
          return { actor: given(caller, 'session'), sourceIp: request.sourceIp, now: app.clock() }
        },
        get gateway() {
          return given(found?.gateway, 'gateway')
        },
        get incident() {
          return given(found?.incident, 'incident')
        },
        sourceIp: request.sourceIp,
        rawBody: request.rawBody ?? Buffer.alloc(0),
        raw: request,
        reply,
      })
      // An event stream has begun.
      if (reply.sent) return reply
      if (call.status) reply.code(call.status)
      if (call.response || call.media) return answer
      return reply.code(204).send()
    },
  })
}

/**
 * A page can point its own name at the hub (DNS rebinding) and would then enrol a device from its visitor's address. No
 * agent sends these headers, and no page can omit all of them.
 */
function refuseBrowsers({ headers }: FastifyRequest): void {
  const isBrowser = Object.keys(headers).some((name) => name === 'origin' || name.startsWith('sec-fetch-'))
  if (isBrowser) throw new HubError('browser_refused')
}

/** Calls without a session are for the hub's own page and for programs, not for pages of other sites. */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site']
  if (site === 'cross-site' || site === 'same-site') throw new HubError('origin_not_allowed')
}

async function authenticate(
  app: FastifyInstance,
  request: FastifyRequest,
  { capability, call }: { capability: Capability; call: Call },
): Promise<Caller> {
  const token = /^Bearer ([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (!token) throw new HubError('session_required')
  const evenBeforeTwoFactor = 'self' in capability && capability.self === 'session'
  const caller = await app.authenticate(token, { evenBeforeTwoFactor })
  const onlyReads = caller.token?.access === 'read' && call.method !== 'GET'
  if (!onlyReads && scopeOf(caller).may(capability)) return caller
  await app.recordRefusal({ caller, call: keyOf(call), sourceIp: request.sourceIp })
  const { userId, role } = caller
  throw new HubError(scopeOf({ userId, role }).may(capability) ? 'token_not_allowed' : 'role_required')
}
