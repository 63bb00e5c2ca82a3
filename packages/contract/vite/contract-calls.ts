/**
 * Vite plugin: the contract's calls without their schemas as the module `virtual:contract-calls`, for pages that only
 * make calls: method, path and whether there is an answer. The schemas and zod (30 kB) load with the first form.
 */
import * as contract from '../src/index.ts'

const ID = 'virtual:contract-calls'

type CallLike = { method: string; path: string; response: unknown }

const isCall = (value: unknown): value is CallLike =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'response' in value

export const contractCalls = {
  name: 'contract-calls',
  resolveId: (id: string) => (id === ID ? `\0${ID}` : undefined),
  load: (id: string) => (id === `\0${ID}` ? callsModule() : undefined),
}

function callsModule(): string {
  return Object.entries(contract)
    .flatMap(([name, value]) => {
      if (!isCall(value)) return []
      const { method, path, response } = value
      return [`export const ${name} = ${JSON.stringify({ method, path, response: response === null ? null : {} })}`]
    })
    .join('\n')
}
