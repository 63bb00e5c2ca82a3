/** Makes the hub's calls from a program: typed by the contract, whose schemas check each answer. */
import { API_BASE, callAddress, type Call, type InputOf, type ResponseOf } from '@hedgerow/contract'
import { z } from 'zod'

type Arguments<C extends Call> = object extends InputOf<C> ? [input?: InputOf<C>] : [input: InputOf<C>]

/** Makes a call of the contract. Rejects with a `Refusal`, or with the error of `fetch`. */
export type Client = <C extends Call>(call: C, ...input: Arguments<C>) => Promise<ResponseOf<C>>

type Input = { params?: Record<string, string>; query?: Record<string, unknown>; body?: object }

/** A newer hub may have codes that this contract lacks. */
const refusalBody = z.object({
  error: z.string(),
  message: z.string(),
  fieldErrors: z.record(z.string(), z.string()).optional(),
})

/** A refusal of the hub: its status and its error body. */
export class Refusal extends Error {
  readonly status: number
  readonly body: z.output<typeof refusalBody>
  /** When the call may be repeated, if the hub said so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, body: z.output<typeof refusalBody>, retryAfterMs?: number) {
    super(`${status} ${body.error}: ${body.message}`)
    this.status = status
    this.body = body
    this.retryAfterMs = retryAfterMs
  }
}

/** `origin` is the hub's address. Without a token, or a function that returns one, calls are those of a visitor. */
export function createClient(origin: string, token?: string | (() => string | Promise<string>)): Client {
  const base = new URL(API_BASE, origin).href
  return async (call, ...[input]) => {
    const { params, query, body } = (input ?? {}) as Input
    const headers = new Headers({ accept: call.media ?? 'application/json' })
    const bearer = typeof token === 'function' ? await token() : token
    if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
    if (body) headers.set('content-type', 'application/json')
    const response = await fetch(callAddress(base, call, params, query), {
      method: call.method,
      headers,
      // The header would go to another server too.
      redirect: 'error',
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw await refusalOf(response)
    if (call.media) return new Uint8Array(await response.arrayBuffer()) as ResponseOf<typeof call>
    const answer: unknown = call.response ? call.response.parse(await response.json()) : undefined
    return answer as ResponseOf<typeof call>
  }
}

/** What is no error body of the hub's comes from a proxy in front of it. */
async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text()
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  const body = refusalBody.safeParse(parseJson(text)).data ?? { error: 'unknown', message: text.slice(0, 300) }
  return new Refusal(response.status, body, Number.isFinite(seconds) ? seconds * 1_000 : undefined)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
