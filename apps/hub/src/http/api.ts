/**
 * The Fastify instance that calls are mounted on: JSON only, strict schemas, one shape of refusal, no cookies, no CORS.
 * There are two: the hub's public API, and the tunnel's, which has only the calls of gateways.
 */
import { Readable } from 'node:stream'
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyServerFactory,
} from 'fastify'
import { serializerCompiler } from 'fastify-type-provider-zod'
import { answerUnknownRoute, checkRequests, handleErrors, sendRefusal } from './errors.ts'
import { HubError } from '../kernel/hub-error.ts'
import type { Allowance, LongAnswers } from './long-answers.ts'
import { parseJsonOnly } from './json-bodies.ts'
import { refuseNullCharacters } from './null-characters.ts'
import { sendSecurityHeaders } from './security-headers.ts'
import type { Caller, RefusedCall, Sessions } from '../access/sessions.ts'
import type { SourceAddress } from '../access/source-address.ts'
import type { Db } from '../database/tables.ts'

declare module 'fastify' {
  interface FastifyInstance {
    surface: 'public' | 'tunnel'
    db: Db | undefined
    clock: () => number
    authenticate: Sessions['authenticate']
    recordRefusal: (refused: RefusedCall) => Promise<void>
    limitWrites: (caller: Caller, sourceIp: string) => void
  }
  interface FastifyContextConfig {
    messageOfFirstField?: boolean
    verifyBody?: ((request: FastifyRequest, body: Buffer) => void) | undefined
  }
  interface FastifyRequest {
    caller: Caller | undefined
    /** What its answer needs for as long as it is sent. */
    allowance: Allowance | undefined
    rawBody: Buffer | undefined
    sourceIp: string
  }
}

/** Of a call that names no limit. */
const BODY_LIMIT_BYTES = 64 * 1024

export type ApiOptions = {
  surface: 'public' | 'tunnel'
  /** Where `mount` finds what a path names. */
  db?: Db
  /** Says when a caller acts. */
  clock?: () => number
  log: FastifyBaseLogger
  sourceAddress: SourceAddress
  /** Turns an access token into its caller; the tunnel's API has no callers. */
  authenticate?: Sessions['authenticate']
  /** Called for calls that a caller's role does not allow, before the refusal. */
  recordRefusal?: (refused: RefusedCall) => Promise<void>
  /** Counts a person's writing call; throws `too_many_requests`. */
  limitWrites?: (caller: Caller, sourceIp: string) => void
  /** Holds every answer that is a stream. */
  longAnswers?: LongAnswers
  serverFactory?: FastifyServerFactory
}

export function createApi(options: ApiOptions): FastifyInstance {
  const app: FastifyInstance = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    exposeHeadRoutes: false,
    // Uploads to gateways' pages share the server and may take long; http/server.ts limits the API's own requests.
    requestTimeout: 0,
    frameworkErrors: (error, _request, reply) => {
      sendRefusal(reply, new HubError('invalid_request', { cause: error }))
    },
    // The server in front answers bytes that are not HTTP.
    clientErrorHandler: () => {},
    ...(options.serverFactory && { serverFactory: options.serverFactory }),
  })
  app.setSerializerCompiler(serializerCompiler)
  app.decorate('surface', options.surface)
  app.decorate('db', options.db)
  app.decorate('clock', options.clock ?? Date.now)
  app.decorate('authenticate', options.authenticate ?? (() => Promise.reject(new HubError('session_required'))))
  app.decorate('recordRefusal', options.recordRefusal ?? (() => Promise.resolve()))
  app.decorate('limitWrites', options.limitWrites ?? (() => {}))
  app.decorateRequest('caller', undefined)
  app.decorateRequest('allowance', undefined)
  app.decorateRequest('rawBody', undefined)
  app.decorateRequest('sourceIp', '')

  parseJsonOnly(app)
  refuseNullCharacters(app)
  checkRequests(app)
  handleErrors(app)
  sendSecurityHeaders(app)
  app.setNotFoundHandler(answerUnknownRoute)
  const { longAnswers } = options
  app.addHook('onRequest', async (request, reply) => {
    longAnswers?.hasRead(request.raw.socket)
    request.sourceIp = options.sourceAddress(request.raw)
    reply.header('cache-control', 'no-store')
  })
  if (longAnswers)
    app.addHook('onSend', async ({ allowance }, { raw: response }, payload) =>
      payload instanceof Readable ? longAnswers.hold(payload, { response, allowance }) : payload,
    )
  app.addHook('onResponse', async (request, reply) => {
    // The route, not the address: callers' input stays out of the log.
    const { method, sourceIp, routeOptions } = request
    request.log.debug(
      { method, route: routeOptions.url, status: reply.statusCode, ms: Math.round(reply.elapsedTime), sourceIp },
      'request',
    )
  })
  return app
}
