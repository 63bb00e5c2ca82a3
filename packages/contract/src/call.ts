import type { z } from 'zod'
import type { ErrorCode } from './errors.ts'

/**
 * One HTTP call: the hub mounts it, the portal and the gateway make it. `path` is relative to `/api` and names its
 * parameters as `:name`. A response of `null` is an answer without a body (204).
 */
export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: `/v1/${string}`
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  response: z.ZodType | null
  /**
   * What the call itself may refuse with, beside what its access, its parts and the storage may: `errorsOf` of the hub.
   */
  errors?: readonly ErrorCode[]
  /** A device signs it with its identity key, in `X-Gateway-Signature`: docs/protocol.md. */
  signed?: true
  /** What each message of a stream of server-sent events holds, where that is what the call answers. */
  event?: z.ZodType
}

/** Keeps a call's exact schema types, so both ends are typed by the same line. */
export function call<const C extends Call>(definition: C): C {
  return definition
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Sent<S> = S extends z.ZodType ? z.input<S> : undefined

/** What a caller sends as the JSON body of `C`. */
export type BodyOf<C extends Call> = C extends { body: infer S } ? Sent<S> : undefined
/** What a caller puts into the path of `C`. */
export type ParamsOf<C extends Call> = C extends { params: infer S } ? Sent<S> : undefined
/** What a caller may put behind the `?` of `C`; may be left out where each part of it may. */
export type QueryOf<C extends Call> = C extends { query: infer S }
  ? Sent<S> | (object extends Sent<S> ? undefined : never)
  : undefined
/** What the hub answers to `C`; undefined where it answers without a body. */
export type ResponseOf<C extends Call> = Parsed<C['response']>
