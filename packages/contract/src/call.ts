import type { z } from 'zod'
import type { DeviceErrorCode } from './device-errors.ts'
import type { ErrorCode } from './errors.ts'

/**
 * One HTTP call: the hub mounts it, the portal and the gateway make it. `path` is relative to `/api`; its parameters
 * are `:name`. A response of `null` is an answer without a body (204).
 */
export type Call<Code extends string = ErrorCode> = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: `/v1/${string}`
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  response: z.ZodType | null
  /** The status of a successful answer with a body; 200 unless the work has only begun. */
  status?: 202
  /** The error codes of the call itself. `errorsOf` of the hub adds those of access, validation and storage. */
  errors?: readonly Code[]
  /** The body is a form instead of JSON. */
  form?: true
  /** A device signs it with its identity key, in `X-Gateway-Signature`: docs/protocol.md. */
  signed?: true
  /** Kept for programs until the next minor version: the same path with PATCH does the same. */
  deprecated?: true
  /** The audit has an entry for this call, although it is a GET. */
  recorded?: true
  /** The media type of an answer that is no JSON; `response` is null then. */
  media?: 'image/jpeg' | 'video/mp4' | 'application/zip' | 'application/gzip'
  /** The schema of each message, when the answer is a stream of server-sent events. */
  event?: z.ZodType
}

/** A call that the agent on a device serves. */
export type DeviceCall = Call<DeviceErrorCode> & {
  /** For the description that the device serves. */
  summary?: string
  /** The body may be missing. */
  bodyOptional?: true
}

/** Keeps a call's exact schema types, so one definition types both ends. */
export function call<const C extends Call | DeviceCall>(definition: C): C {
  return definition
}

/** The path of a call with its parameters and query, below `base`. */
export function callAddress(
  base: string,
  { path }: Pick<Call, 'path'>,
  params: Readonly<Record<string, string>> = {},
  query: Readonly<Record<string, unknown>> = {},
): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  ).toString()
  return `${base}${filled}${search === '' ? '' : `?${search}`}`
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Sent<S> = S extends z.ZodType ? z.input<S> : undefined

/** The JSON body that a caller of `C` sends. */
export type BodyOf<C extends Call<string>> = C extends { body: infer S } ? Sent<S> : undefined
/** The path parameters that a caller of `C` fills in. */
export type ParamsOf<C extends Call<string>> = C extends { params: infer S } ? Sent<S> : undefined
/** The query that a caller of `C` may send; optional when all its parts are. */
export type QueryOf<C extends Call<string>> = C extends { query: infer S }
  ? Sent<S> | (object extends Sent<S> ? undefined : never)
  : undefined
/** The answer to `C`; undefined for an answer without a body. */
export type ResponseOf<C extends Call<string>> = C extends { media: string } ? Uint8Array : Parsed<C['response']>

type Part<Name extends string, Value> = [Value] extends [undefined]
  ? unknown
  : undefined extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value }
/** A call's input: the parts that its contract names. */
export type InputOf<C extends Call<string>> = Part<'params', ParamsOf<C>> &
  Part<'query', QueryOf<C>> &
  Part<'body', BodyOf<C>>
