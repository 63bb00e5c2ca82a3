import { z } from 'zod'
import { localErrors } from '../../calls/errors.ts'
import { API_PATH, callOf, localCalls } from './calls.ts'

type CallName = keyof typeof localCalls

/** The local API as OpenAPI 3.1. */
export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const name of Object.keys(localCalls) as CallName[]) {
    const path = `${API_PATH}${callOf(name).path.replaceAll(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [callOf(name).method.toLowerCase()]: operation(name) }
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
    error: { enum: Object.keys(localErrors) },
    message: { type: 'string' },
    reason: { type: 'string', description: 'For `not_fired`: why.' },
    fieldErrors: { type: 'object', additionalProperties: { type: 'string' } },
  },
}

function operation(name: CallName): object {
  const { path, summary, query, body, bodyOptional = false, response, media } = callOf(name)
  const json = (schema: object) => ({ 'application/json': { schema } })
  const names = [...path.matchAll(/:(\w+)/g)].map(([, parameter]) => parameter)
  const inPath = names.map((parameter) => ({
    name: parameter,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const shape = query ? (z.toJSONSchema(query, { io: 'input' }).properties ?? {}) : {}
  const inQuery = Object.entries(shape).map(([parameter, schema]) => ({ name: parameter, in: 'query', schema }))
  const content = media ? { [media]: {} } : json(response ? z.toJSONSchema(response, { io: 'input' }) : {})
  return {
    operationId: name,
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body && {
      requestBody: { required: !bodyOptional, content: json(z.toJSONSchema(body, { io: 'input' })) },
    }),
    responses: {
      200: { description: 'Done', content },
      '4XX': { description: 'Refused', content: json({ $ref: '#/components/schemas/Error' }) },
    },
  }
}
