/**
 * The contract's calls without their schemas, for the pages that only make calls: method, path and whether there is
 * an answer. The schemas and zod (30 kB) then load with the first form that checks something.
 */
import * as contract from '@hedgerow/contract'

type CallLike = { method: string; path: string; response: unknown }

const isCall = (value: unknown): value is CallLike =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'response' in value

export function contractCalls(): string {
  return Object.entries(contract)
    .flatMap(([name, value]) => {
      if (!isCall(value)) return []
      const { method, path, response } = value
      return [`export const ${name} = ${JSON.stringify({ method, path, response: response === null ? null : {} })}`]
    })
    .join('\n')
}
