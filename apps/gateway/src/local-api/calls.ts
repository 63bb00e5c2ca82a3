/** The calls of the device's local API, their errors and their OpenAPI document. */
import { heartbeat, reportDetections, type Heartbeat } from '@hedgerow/contract'
import { z } from 'zod'

export const API_PATH = '/api/v1'

/** State that only the device's own programs know; the next heartbeat sends it. */
export type DeviceReport = Partial<Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'problems'>>

const status: z.ZodType<DeviceReport> = heartbeat
  .pick({ cameras: true, detectors: true, deterrents: true, problems: true })
  .partial() as z.ZodType<DeviceReport>

export const localCalls = {
  reportDetections: {
    method: 'POST',
    path: '/detections',
    summary: 'Reports detections. The same id again brings a detection up to date.',
    body: reportDetections.body,
    response: z.object({ accepted: z.number().int().describe('How many are safe on the disk of the device.') }),
  },
  putStatus: {
    method: 'PUT',
    path: '/status',
    summary: 'Replaces the named parts of what the next heartbeats tell the hub.',
    body: status,
    response: z.object({}),
  },
} as const

export const localErrors = {
  not_found: { status: 404, message: 'There is no such call.' },
  method_not_allowed: { status: 405, message: 'This call takes another method.' },
  browser_refused: { status: 403, message: 'This API is for programs, not for pages in a browser.' },
  api_not_configured: { status: 403, message: 'Add sources.api to gateway.yaml to report detections.' },
  token_required: { status: 401, message: 'Send the token of gateway.yaml as Authorization: Bearer.' },
  unsupported_media_type: { status: 415, message: 'The body must be application/json.' },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  json_too_complex: { status: 400, message: 'The body holds too many values or is nested too deep.' },
  invalid_request: { status: 400, message: 'Some fields are not valid.' },
  payload_too_large: { status: 413, message: 'The body is larger than 2 MiB.' },
  too_many_requests: { status: 429, message: 'Too many calls. Wait a second.' },
  internal_error: { status: 500, message: "The call failed. The agent's log has the details." },
} as const

export type LocalErrorCode = keyof typeof localErrors

/** OpenAPI 3.1. */
export function openApiDocument(version: string): object {
  const error = {
    type: 'object',
    required: ['error', 'message'],
    properties: { error: { enum: Object.keys(localErrors) }, message: { type: 'string' } },
  }
  const json = (schema: object) => ({ 'application/json': { schema } })
  return {
    openapi: '3.1.0',
    info: { title: 'Local API of a Hedgerow gateway', version, license: { name: 'MIT', identifier: 'MIT' } },
    security: [{ token: [] }, {}],
    paths: Object.fromEntries(
      Object.entries(localCalls).map(([name, call]) => [
        `${API_PATH}${call.path}`,
        {
          [call.method.toLowerCase()]: {
            operationId: name,
            summary: call.summary,
            requestBody: { required: true, content: json(z.toJSONSchema(call.body, { io: 'input' })) },
            responses: {
              200: { description: 'Done', content: json(z.toJSONSchema(call.response)) },
              '4XX': { description: 'Refused', content: json(error) },
            },
          },
        },
      ]),
    ),
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}
