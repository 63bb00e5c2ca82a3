import {
  API_BASE,
  errorBody,
  login,
  type Call,
  type ErrorBody,
  type InputOf,
  type ResponseOf,
} from '@hedgerow/contract'

type Arguments<C extends Call> = object extends InputOf<C> ? [input?: InputOf<C>] : [input: InputOf<C>]

/** Makes a call of the contract as one signed-in person; the contract's schema has checked the answer. */
export type Api = <C extends Call>(call: C, ...input: Arguments<C>) => Promise<ResponseOf<C>>

/** A refusal of the hub: its status and its error body. */
export class Refusal extends Error {
  readonly status: number
  readonly body: ErrorBody

  constructor(status: number, body: ErrorBody) {
    super(`${status} ${body.error}: ${body.message}`)
    this.status = status
    this.body = body
  }
}

/** `token` returns the access token for each request; without it, the calls are those of a visitor. */
export function createApi(origin: string, token?: () => string | Promise<string>): Api {
  return async (call, ...[input]) => {
    const { params = {}, query = {}, body } = (input ?? {}) as Partial<Record<'params' | 'query' | 'body', object>>
    const path = call.path.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(String((params as Record<string, unknown>)[name])),
    )
    const search = new URLSearchParams(query as Record<string, string>).toString()
    const headers = new Headers({ accept: 'application/json' })
    if (token) headers.set('authorization', `Bearer ${await token()}`)
    if (body) headers.set('content-type', 'application/json')
    const response = await fetch(`${origin}${API_BASE}${path}${search && `?${search}`}`, {
      method: call.method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Refusal(response.status, errorBody.parse(await response.json()))
    if (call.media) return new Uint8Array(await response.arrayBuffer()) as ResponseOf<typeof call>
    const answer: unknown = call.response ? call.response.parse(await response.json()) : undefined
    return answer as ResponseOf<typeof call>
  }
}

/** Signs in once, at the first call that needs it. */
export function createApiAs(origin: string, credentials: { username: string; password: string }): Api {
  let token: Promise<string> | undefined
  const signIn = async () => {
    const answer = await createApi(origin)(login, { body: credentials })
    if ('challenge' in answer) throw new Error(`${credentials.username} signs in with two-factor`)
    return answer.accessToken
  }
  return createApi(origin, () => (token ??= signIn()))
}
