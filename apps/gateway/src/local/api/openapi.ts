import { z } from 'zod'
import type { DeviceCall } from '@hedgerow/contract'
import { errorsOfEveryDeviceCall, type DeviceErrorCode } from '@hedgerow/contract/device-errors'
import { LOCAL_API_BASE, localCalls } from '@hedgerow/contract/local-api'

const CALLS = Object.entries<DeviceCall>(localCalls)

const OF_EVERY_CALL: readonly DeviceErrorCode[] = [
  ...errorsOfEveryDeviceCall,
  'browser_refused',
  'api_not_configured',
  'token_required',
]

/** The local API as OpenAPI 3.1. */
export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const [name, call] of CALLS) {
    const path = LOCAL_API_BASE + call.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: operation(name, call) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Local API of a Hedgerow gateway', version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR },
    },
  }
}

const ERROR = {
  type: 'object',
  required: ['error', 'message'],
  properties: {
    error: { enum: [...new Set([...OF_EVERY_CALL, ...CALLS.flatMap(([, { errors = [] }]) => errors)])] },
    message: { type: 'string' },
    reason: { type: 'string', description: 'For `not_fired`: why.' },
    fieldErrors: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

function operation(name: string, call: DeviceCall): object {
  const { summary, params, query, body, bodyOptional = false, response, media, errors = [] } = call
  const json = (schema: object) => ({ 'application/json': { schema } })
  const parameters = [...parametersIn('path', params), ...parametersIn('query', query)]
  const content = media ? { [media]: {} } : json(response ? z.toJSONSchema(response, { io: 'input' }) : {})
  return {
    operationId: name,
    summary,
    parameters,
    ...(body && {
      requestBody: { required: !bodyOptional, content: json(z.toJSONSchema(body, { io: 'input' })) },
    }),
    responses: {
      200: { description: 'Done', content },
      '4XX': {
        description: `Refused: ${[...OF_EVERY_CALL, ...errors].map((code) => `\`${code}\``).join(', ')}.`,
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    },
  }
}

function parametersIn(place: 'path' | 'query', schema: z.ZodType | undefined): object[] {
  const shape = schema ? (z.toJSONSchema(schema, { io: 'input' }).properties ?? {}) : {}
  return Object.entries(shape).map(([name, part]) => ({ name, in: place, required: place === 'path', schema: part }))
}
