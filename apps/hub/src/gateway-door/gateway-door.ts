/**
 * The hub's own door to a gateway: HTTP on port 8081 of its tunnel address, for commands and pictures. Only this module
 * dials that port, with the calls of the contract. A gateway's answers are bounded in size and time, and validated.
 */
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  callAddress,
  GATEWAY_DOOR_PORT,
  PICTURE_AGE_HEADER,
  PICTURE_MAX_BYTES,
  type DeviceCall,
  type doorCalls,
  type ErrorCode,
  type InputOf,
  type ResponseOf,
} from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { VisibleGateway } from '../access/objects.ts'
import { callOut } from '../http/outgoing-call.ts'
import { HubError } from '../kernel/hub-error.ts'

type DoorCalls = (typeof doorCalls)[keyof typeof doorCalls]
type JsonCall = Exclude<DoorCalls, { media: string }>
type FileCall<Media extends string> = Extract<DoorCalls, { media: Media }>
type DoorRequest<C extends DeviceCall> = InputOf<C> & { timeoutMs: number; signal?: AbortSignal }

export type DoorGateway = Pick<VisibleGateway, 'kind' | 'address'>

/** Each call rejects with `gateway_takes_no_commands`, `vpn_disabled`, the connection's error, or a DoorStatus. */
export type GatewayDoor = {
  call<C extends JsonCall>(
    gateway: DoorGateway,
    call: C,
    input: DoorRequest<C> & { limitBytes?: number; limitValues?: number },
  ): Promise<ResponseOf<C>>
  /** `ageMs` is 0 where nobody knows. */
  picture<C extends FileCall<'image/jpeg'>>(
    gateway: DoorGateway,
    call: C,
    input: DoorRequest<C>,
  ): Promise<{ jpeg: Buffer; ageMs: number }>
  /** The answer's head has come; the body is still to be read, and ends with `signal`. */
  open<C extends FileCall<'video/mp4'>>(
    gateway: DoorGateway,
    call: C,
    input: DoorRequest<C> & { headers: Record<string, string> },
  ): Promise<IncomingMessage>
}

/** The gateway refused the call, or its answer is invalid. */
export class DoorStatus extends Error {
  override name = 'DoorStatus'
  readonly status: number

  constructor(status: number) {
    super(`the gateway answered with status ${status}`)
    this.status = status
  }
}

/** Nothing listens on the port: the agent is older than its door, and nothing was sent. */
export function isWithoutDoor(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

/** Throws `gateway_takes_no_commands`. Only enrolled gateways run an agent. */
export function requireDoor({ kind }: Pick<DoorGateway, 'kind'>): void {
  if (kind !== 'enrolled') throw new HubError('gateway_takes_no_commands')
}

/** To catch the error of a call that reads something: `unavailable` where the agent does not have it. */
export function orUnavailable(unavailable: ErrorCode): (error: unknown) => never {
  return (error) => {
    if (error instanceof HubError) throw error
    const isThere = error instanceof DoorStatus || isWithoutDoor(error)
    throw new HubError(isThere ? unavailable : 'gateway_unreachable', { cause: error })
  }
}

const JSON_LIMIT_BYTES = 64 * 1024
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff])
/** In milliseconds, up to 11 days. */
const AGE = /^\d{1,9}$/

type Address = { params?: Record<string, string> | undefined; query?: object | undefined }
type Sending = Address & {
  body?: object | undefined
  timeoutMs: number
  signal?: AbortSignal | undefined
  limitBytes: number
}

export function createGatewayDoor({ dial }: { dial: (address: string, port: number) => Duplex }): GatewayDoor {
  function reach({ kind, address }: DoorGateway, call: DeviceCall, { params, query }: Address) {
    requireDoor({ kind })
    return {
      url: callAddress(`http://${address}:${GATEWAY_DOOR_PORT}`, call, params, { ...query }),
      connect: () => dial(address, GATEWAY_DOOR_PORT),
    }
  }

  async function send(gateway: DoorGateway, call: DeviceCall, { body = {}, signal, limitBytes, ...input }: Sending) {
    const sent = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return callOut({
      ...reach(gateway, call, input),
      ...(call.method === 'POST' ? { method: 'POST', ...sent } : { method: 'GET' }),
      timeoutMs: input.timeoutMs,
      answerLimitBytes: limitBytes,
      ...(signal && { signal }),
    })
  }

  return {
    async call(gateway, call, { limitBytes = JSON_LIMIT_BYTES, limitValues, ...input }) {
      const { status, body } = await send(gateway, call, { ...input, limitBytes })
      const read = readJson(body, limitValues)
      const parsed = call.response.safeParse(read.problem ? undefined : read.value)
      if (status !== 200 || !parsed.success) throw new DoorStatus(status)
      return parsed.data as never
    },
    async picture(gateway, call, input) {
      const { status, headers, body } = await send(gateway, call, { ...input, limitBytes: PICTURE_MAX_BYTES })
      if (status !== 200 || !body.subarray(0, 3).equals(JPEG_START)) throw new DoorStatus(status)
      return { jpeg: body, ageMs: ageIn(headers) }
    },
    async open(gateway, call, { headers, timeoutMs, signal, ...parts }) {
      const { url, connect } = reach(gateway, call, parts)
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      const outgoing = request(url, {
        headers: { connection: 'close', ...headers },
        createConnection: connect,
        ...(signal && { signal }),
      })
      const late = setTimeout(() => outgoing.destroy(new Error('the gateway gives no answer')), timeoutMs)
      outgoing.once('response', resolve)
      outgoing.once('error', reject)
      // Node ends a call silently at an answer 101 that it did not ask for.
      outgoing.once('close', () => reject(new Error('the connection ended without a whole answer')))
      outgoing.end()
      return promise.finally(() => clearTimeout(late))
    },
  }
}

function ageIn(headers: IncomingHttpHeaders): number {
  const text = headers[PICTURE_AGE_HEADER]
  return typeof text === 'string' && AGE.test(text) ? Number(text) : 0
}
