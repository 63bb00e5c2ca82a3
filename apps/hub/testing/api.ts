import { API_BASE, type BodyOf, type Call, type ParamsOf, type QueryOf } from '@hedgerow/contract'
import type { TestHub } from './hub.ts'

export type Answer = { status: number; body: unknown; headers: Record<string, unknown> }

type Request<C extends Call> = {
  token?: string | undefined
  params?: ParamsOf<C>
  query?: QueryOf<C>
  /** Any object, so that a test may send a body that the contract forbids. */
  body?: BodyOf<C> | object
  from?: string
}

let lastAddress = 0
/** An address without failed attempts of other tests. */
export function nextAddress(): string {
  lastAddress++
  return `198.18.${lastAddress >> 8}.${lastAddress & 255}`
}

/** Makes calls of the contract on a hub that need not listen; each from a new address by default. */
export function createTestApi(hub: TestHub) {
  return async <C extends Call>(call: C, request: Request<C> = {}): Promise<Answer> => {
    const { token, params = {}, query, body, from = nextAddress() } = request
    const path = call.path.replaceAll(/:(\w+)/g, (_, name: string) => (params as Record<string, string>)[name] ?? '')
    const response = await hub.app.inject({
      method: call.method,
      url: API_BASE + path,
      remoteAddress: from,
      ...(query !== undefined && {
        query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
      }),
      ...(body !== undefined && { payload: body }),
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}`, 'user-agent': 'test' } }),
    })
    return {
      status: response.statusCode,
      body: response.body === '' ? undefined : response.json<unknown>(),
      headers: response.headers,
    }
  }
}

/** The hub's refusal, for comparisons. */
export function refusal(status: number, error: string): object {
  return { status, body: { error } }
}
