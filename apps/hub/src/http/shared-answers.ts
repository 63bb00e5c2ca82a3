import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Scope } from '../access/scope.ts'
import type { Headers } from './pagination.ts'

type AnswerRequest = { scope: Scope; query?: unknown; reply: Headers }
type Shared = { answer: unknown; headers: [name: string, value: string][] }

export type ShareAnswer = <T>(name: string, request: AnswerRequest, read: (reply: Headers) => Promise<T>) => Promise<T>

/** The same text for the same question of all who see the same gateways. */
export function answerKey(scope: Scope, ...parts: unknown[]): string {
  return JSON.stringify([scope.key, ...parts])
}

/**
 * One answer for all pages of a scope that ask the same before its read begins: after an event every open page asks
 * again at the same moment. A read that has begun is not shared, because it may lack what its caller has just changed.
 * For answers that depend on the query and on which gateways the caller sees, and on nothing else of the caller.
 */
export function createSharedAnswers(): ShareAnswer {
  const waiting = new Map<string, Promise<Shared>>()

  async function answerSoon(key: string, read: (reply: Headers) => Promise<unknown>): Promise<Shared> {
    await nextTurn()
    waiting.delete(key)
    const headers: Shared['headers'] = []
    const answer = await read({ header: (name, value) => headers.push([name, value]) })
    return { answer, headers }
  }

  return async <T>(name: string, { scope, query, reply }: AnswerRequest, read: (reply: Headers) => Promise<T>) => {
    const key = answerKey(scope, name, query)
    const shared = waiting.get(key) ?? answerSoon(key, read)
    waiting.set(key, shared)
    const { answer, headers } = await shared
    for (const [header, value] of headers) reply.header(header, value)
    return answer as T
  }
}
