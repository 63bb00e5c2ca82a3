/**
 * Vite plugin: the contract's calls without their schemas as the module `virtual:contract-calls`, for pages that only
 * make calls: method, path, the media type and whether there is an answer. The schemas and zod (30 kB) load with the
 * first form. `paths` in tsconfig.json gives the module the types of the contract, so nobody maintains a list of its
 * exports.
 */
import { calls } from '../src/calls.ts'

const ID = 'virtual:contract-calls'

export const contractCalls = {
  name: 'contract-calls',
  resolveId: (id: string) => (id === ID ? `\0${ID}` : undefined),
  load: (id: string) => (id === `\0${ID}` ? callsModule() : undefined),
}

function callsModule(): string {
  return Object.entries(calls)
    .map(([name, { method, path, media, response }]) => {
      const call = JSON.stringify({ method, path, media, response: response === null ? null : {} })
      return `export const ${name} = ${call}`
    })
    .join('\n')
}
