/**
 * The hub's own door to a gateway: HTTP on port 8081 of its tunnel address, for commands and pictures. Only this module
 * dials that port. A gateway's answers are bounded in size and time, and validated.
 */
import { request, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { GATEWAY_DOOR_PORT, type ErrorCode } from '@hedgerow/contract'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { z } from 'zod'
import { callOut, type OutgoingAnswer } from '../http/outgoing-call.ts'
import { HubError } from '../kernel/hub-error.ts'

export type GatewayDoor = {
  /** Rejects with the connection's error, or with a sentence when the answer does not fit `schema`. */
  post<S extends z.ZodType>(
    address: string,
    path: string,
    ask: DoorCall & { body: object; schema: S },
  ): Promise<z.output<S>>
  get(address: string, path: string, ask: DoorCall & { limitBytes: number }): Promise<OutgoingAnswer>
  /** The answer's head has come; the body is still to be read, and ends with `signal`. */
  open(address: string, path: string, ask: DoorCall & { headers: Record<string, string> }): Promise<IncomingMessage>
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

/** Why a call that reads something got no answer; `unavailable` where the agent cannot have it. */
export function noAnswer(error: unknown, unavailable: ErrorCode): HubError {
  return new HubError(isWithoutDoor(error) ? unavailable : 'gateway_unreachable', { cause: error })
}

type DoorCall = { timeoutMs: number; signal?: AbortSignal }

const JSON_LIMIT_BYTES = 64 * 1024

export function createGatewayDoor({ dial }: { dial: (address: string, port: number) => Duplex }): GatewayDoor {
  const connect = (address: string) => () => dial(address, GATEWAY_DOOR_PORT)
  const urlOf = (address: string, path: string) => `http://${address}:${GATEWAY_DOOR_PORT}${path}`

  return {
    async post(address, path, { body, schema, ...ask }) {
      const answer = await callOut({
        ...ask,
        url: urlOf(address, path),
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        answerLimitBytes: JSON_LIMIT_BYTES,
        connect: connect(address),
      })
      const read = readJson(answer.body)
      const parsed = schema.safeParse(read.problem ? undefined : read.value)
      if (answer.status !== 200 || !parsed.success) throw new DoorStatus(answer.status)
      return parsed.data as never
    },
    get: (address, path, { limitBytes, ...ask }) =>
      callOut({
        ...ask,
        url: urlOf(address, path),
        method: 'GET',
        answerLimitBytes: limitBytes,
        connect: connect(address),
      }),
    open(address, path, { headers, timeoutMs, signal }) {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      const asking = request(urlOf(address, path), {
        headers: { connection: 'close', ...headers },
        createConnection: connect(address),
        ...(signal && { signal }),
      })
      const late = setTimeout(() => asking.destroy(new Error('the gateway gives no answer')), timeoutMs)
      asking.once('response', resolve)
      asking.once('error', reject)
      // Node ends a call silently at an answer 101 that it did not ask for.
      asking.once('close', () => reject(new Error('the connection ended without a whole answer')))
      asking.end()
      return promise.finally(() => clearTimeout(late))
    },
  }
}
