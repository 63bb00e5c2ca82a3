import {
  API_BASE,
  errorBody,
  errorTable,
  webhookHeaders,
  webhookMessage,
  type Call,
  type ErrorCode,
} from '@hedgerow/contract'
import { calls, keyOf } from '@hedgerow/contract/calls'
import { z } from 'zod'
import { audienceOf, policy, type Access, type Audience } from '../access/policy.ts'
import { errorsOf } from './declared-errors.ts'

type Json = Record<string, unknown>

const VERSION = '1'

const whoMay: Record<Audience, string> = {
  anyone: 'Anyone.',
  session: 'Everybody who is signed in, also before setting up a two-factor sign-in that is required.',
  user: 'Every signed-in user, for what concerns them.',
  manager: 'Managers and admins.',
  admin: 'Admins.',
  gateway: 'A gateway, which proves itself with its keys: docs/protocol.md.',
  member: "An approved gateway: through its tunnel, on the hub's address there, or signed: docs/protocol.md.",
}

export type DescribedCall = Call & { name: string; access: Access }

/** Every call of the contract with its name and its access, by path. */
export function describedCalls(): DescribedCall[] {
  return Object.entries(calls)
    .flatMap(([name, call]) => {
      const access = policy[keyOf(call)]
      return access ? [{ ...call, name, access }] : []
    })
    .toSorted((a, b) => compare(`${a.path} ${a.method}`, `${b.path} ${b.method}`))
}

/** The whole API as an OpenAPI 3.1 document, generated from the schemas that requests and answers pass through. */
export function describeApi(): Json {
  const paths: Record<string, Json> = {}
  for (const call of describedCalls()) {
    const path = call.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operation(call) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hedgerow hub',
      version: VERSION,
      description:
        'Lists answer plain arrays. Where a call takes `limit`, `X-Next-Cursor` carries the cursor of the next ' +
        'page and is absent at the end. Every refusal is an `Error`, whose codes docs/api.md explains.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: API_BASE }],
    tags: Object.entries(whoMay).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { message: { post: webhook() } },
    components: {
      schemas: { Error: schemaOf(errorBody, 'output') },
      responses: describedRefusals(),
      securitySchemes,
    },
    'x-errors': errorTable,
  }
}

/** `listGateways` as `List gateways`. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function operation(call: DescribedCall): Json {
  const { body, name } = call
  const audience = audienceOf(call.access)
  const parameters = [...parametersIn('path', call.params), ...parametersIn('query', call.query)]
  return {
    operationId: name,
    ...(call.deprecated && { deprecated: true }),
    summary: titleOf(name),
    description: [whoMay[audience], omittedFieldsNote(call)].filter(Boolean).join(' '),
    tags: [audience],
    security: securityOf(call),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: inBody(call, schemaOf(body, 'input')) } }),
    responses: { ...success(call), ...refusals(call) },
  }
}

/** What a PUT may leave out; docs/api.md says why. */
function omittedFieldsNote({ method, body }: Call): string {
  if (method !== 'PUT' || !(body instanceof z.ZodObject)) return ''
  const fields = Object.entries(body.shape as Record<string, z.ZodType>)
  const omittable = fields.filter(([name, field]) => name !== 'seen' && field.safeParse(undefined).success)
  const names = omittable.map(([name]) => `\`${name}\``).join(', ')
  return names === '' ? '' : `Left out, these keep their values: ${names}. Every other field but \`seen\` is required.`
}

/** What the hub calls: docs/operations/alerts.md. */
function webhook(): Json {
  return {
    operationId: 'webhookMessage',
    summary: 'A message to the webhook',
    description: 'The hub posts it to `HUB_WEBHOOK_URL`, and again while that does not answer 2xx.',
    security: [],
    parameters: parametersIn('header', webhookHeaders),
    requestBody: { required: true, content: json(schemaOf(webhookMessage, 'output')) },
    responses: { '2XX': { description: 'Taken' }, default: { description: 'Refused: the hub tries again later' } },
  }
}

const securitySchemes: Record<string, Json> = {
  session: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The access token from the answer to signing in, or the token of a program: docs/operations/programs.md.',
  },
  signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Gateway-Signature',
    description: "Ed25519 by the device's identity key, over what docs/protocol.md says. Not within the tunnel.",
  },
}

function securityOf({ access, signed }: DescribedCall): Json[] {
  if (typeof access === 'string') return signed ? [{ signature: [] }] : []
  return [{ session: [] }]
}

/** The codes of a call by their status. */
export function refusalsOf(call: DescribedCall): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of errorsOf(call)) {
    const { status } = errorTable[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return byStatus
}

/** Calls with the same refusals share the description. */
const nameOf = (codes: readonly ErrorCode[]) => codes.join('-')

function refusals(call: DescribedCall): Json {
  return Object.fromEntries(
    [...refusalsOf(call)].map(([status, codes]) => [status, { $ref: `#/components/responses/${nameOf(codes)}` }]),
  )
}

function describedRefusals(): Json {
  const groups = describedCalls().flatMap((call) => [...refusalsOf(call).values()])
  return Object.fromEntries(
    groups.map((codes) => [
      nameOf(codes),
      {
        description: codes.map((code) => `\`${code}\`: ${errorTable[code].message}`).join(' '),
        content: json({
          allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { enum: codes } } }],
        }),
      },
    ]),
  )
}

function success({ response, event, media, status }: Call): Json {
  if (event) {
    const content = { 'text/event-stream': { schema: schemaOf(event, 'output') } }
    return { 200: { description: 'A stream of server-sent events, each with this as its data', content } }
  }
  if (media)
    return { 200: { description: 'Done', content: { [media]: { schema: { type: 'string', format: 'binary' } } } } }
  if (!response) return { 204: { description: 'Done' } }
  return {
    [status ?? 200]: { description: status === 202 ? 'Accepted' : 'Done', content: json(schemaOf(response, 'output')) },
  }
}

function parametersIn(place: 'path' | 'query' | 'header', schema: z.ZodType | undefined): Json[] {
  if (!schema) return []
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }))
}

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}

function inBody({ form }: Call, schema: Json): Json {
  return form ? { 'application/x-www-form-urlencoded': { schema } } : json(schema)
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return described
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
