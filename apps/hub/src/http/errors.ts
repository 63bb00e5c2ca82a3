import { API_BASE, type ErrorBody } from '@hedgerow/contract'
import { wordsOfIssue } from '@hedgerow/contract/words'
import { wholeAnswer } from '@hedgerow/http'
import type {
  FastifyBaseLogger,
  FastifyError,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  SafePromiseLike,
} from 'fastify'
import type { z } from 'zod'
import { HubError } from '../kernel/hub-error.ts'
import { policy } from '../access/policy.ts'
import { validationInSteps } from './validation-in-steps.ts'

const FIELDS_NAMED = 20
const FIELD_NAME_LENGTH = 100

/** The request does not fit its schema. */
class InvalidRequest extends Error {
  readonly issues: readonly z.core.$ZodIssue[]

  constructor(issues: readonly z.core.$ZodIssue[]) {
    super('The request is not valid')
    this.issues = issues
  }
}

/** Runs each route's schemas on a request, and words their errors. */
export function checkRequests(app: FastifyInstance): void {
  app.setValidatorCompiler<z.ZodType>(({ schema, httpPart }) => {
    const inSteps = httpPart === 'body' ? validationInSteps(schema) : undefined
    return (data) => (inSteps?.isFor(data) ? throwIssuesOf(inSteps.validate(data)) : validate(schema, data))
  })
}

function validate<S extends z.ZodType>(schema: S, data: unknown) {
  const parsed = schema.safeParse(data, { error: wordsOfIssue })
  return parsed.success ? { value: parsed.data } : { error: new InvalidRequest(parsed.error.issues) }
}

/** Fastify's type for a promise has a brand that only its linter needs. */
function throwIssuesOf(found: Promise<z.core.$ZodIssue[]>) {
  return found.then((issues) => {
    if (issues.length > 0) throw new InvalidRequest(issues)
    return true
  }) as unknown as SafePromiseLike<boolean>
}

/** Answers every failure of a request with an `ErrorBody`, wherever it was thrown; unexpected ones are logged. */
export function handleErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, { log, routeOptions }, reply) => {
    const { url: route, config } = routeOptions
    return sendRefusal(reply, refusalOf(error, { log, route, messageOfFirstField: config.messageOfFirstField }))
  })
}

/** What a failed request is answered with. Logs unexpected errors. */
export function refusalOf(error: unknown, { log, route, messageOfFirstField }: RefusedRequest): HubError {
  const refusal = toHubError(error as FastifyError, messageOfFirstField)
  if (refusal.code === 'internal_error') log.error({ err: error, route }, 'a request failed')
  // Logged once a minute where it is thrown: a busy hub throws thousands, and a line for each would make it busier.
  else if (refusal.status >= 500 && refusal.code !== 'hub_busy')
    log.warn({ err: refusal.cause, code: refusal.code }, refusal.message)
  return refusal
}

type RefusedRequest = {
  log: Pick<FastifyBaseLogger, 'error' | 'warn'>
  route: string | undefined
  messageOfFirstField?: boolean | undefined
}

/** Answers an address without a route: 405 where another method has one. */
export function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? ''
  const methods = methodsOf(path, request.server.surface)
  if (methods.length === 0) return sendRefusal(reply, new HubError('not_found'))
  return sendRefusal(reply.header('allow', methods.join(', ')), new HubError('method_not_allowed'))
}

export function toErrorBody(refusal: HubError): ErrorBody {
  const { code, message, fieldErrors } = refusal
  return { error: code, message, ...(fieldErrors && { fieldErrors }) }
}

export function sendRefusal(reply: FastifyReply, refusal: HubError): FastifyReply {
  return reply.headers(refusalHeaders(refusal)).code(refusal.status).send(toErrorBody(refusal))
}

export function refusalHeaders({ status, retryAfterMs }: HubError): Record<string, string> {
  return {
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    ...(retryAfterMs !== undefined && { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
  }
}

function toHubError(error: FastifyError, messageOfFirstField: boolean | undefined): HubError {
  if (error instanceof HubError) return error
  if (error instanceof InvalidRequest) {
    const named = fieldErrors(error.issues)
    const message = messageOfFirstField ? Object.values(named).at(-1) : undefined
    return new HubError('invalid_request', { fieldErrors: named, ...(message !== undefined && { message }) })
  }
  const { code, statusCode } = error
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return new HubError('unsupported_media_type')
  if (statusCode === 416) return new HubError('range_not_satisfiable', { cause: error })
  return statusCode && statusCode >= 400 && statusCode < 500
    ? new HubError('invalid_request', { cause: error })
    : new HubError('internal_error', { cause: error })
}

/** zod's errors, by the path of the field; an unknown field is named itself. */
function fieldErrors(issues: readonly z.core.$ZodIssue[]): Record<string, string> {
  const named = issues.flatMap((issue): [string, string][] => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys : []
    if (unknown.length > 0) return unknown.map((name) => [[...issue.path, name].join('.'), issue.message])
    return [[issue.path.join('.') || 'body', issue.message]]
  })
  // Only the first error of a field is shown.
  return Object.fromEntries(
    named
      .slice(0, FIELDS_NAMED)
      .map(([name, message]) => [name.slice(0, FIELD_NAME_LENGTH), message] as const)
      .reverse(),
  )
}

const patterns = Object.entries(policy).map(([key, access]) => {
  const [method = '', path = ''] = key.split(' ')
  const surfaces: FastifyInstance['surface'][] = access === 'member' ? ['public', 'tunnel'] : ['public']
  return { method, surfaces, path: new RegExp(`^${API_BASE}${path.replaceAll(/:\w+/g, '[^/]+')}$`) }
})

function methodsOf(path: string, surface: FastifyInstance['surface']): string[] {
  return patterns
    .filter((pattern) => pattern.surfaces.includes(surface) && pattern.path.test(path))
    .map(({ method }) => method)
}

/** The answer to bytes that are not HTTP, and so belong to no route. */
export const CLIENT_ERROR = wholeAnswer(
  400,
  'Bad Request',
  ['Content-Type', 'application/json'],
  JSON.stringify(toErrorBody(new HubError('invalid_request'))),
)
