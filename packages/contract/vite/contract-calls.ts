/**
 * Vite plugins: the contract's calls without their schemas, for pages that only make calls: method, path, the media
 * type and whether there is an answer. The schemas and zod load with the first form. `virtual:contract-calls`
 * has the hub's calls as exports, `virtual:device-calls` those of a device's own interface. `paths` in tsconfig.json
 * gives the modules the types of the contract, so nobody maintains a list of their exports.
 */
import type { Call, DeviceCall } from '../src/call.ts'
import { calls } from '../src/calls.ts'
import { deviceCalls as callsOfDevice } from '../src/device-interface.ts'

export const contractCalls = virtualModule('contract-calls', () =>
  Object.entries(calls)
    .map(([name, call]) => `export const ${name} = ${withoutSchemas(call)}`)
    .join('\n'),
)

export const deviceCalls = virtualModule('device-calls', () => {
  const entries = Object.entries<DeviceCall>(callsOfDevice).map(([name, call]) => `${name}: ${withoutSchemas(call)}`)
  return `export const deviceCalls = { ${entries.join(', ')} }`
})

function virtualModule(name: string, source: () => string) {
  const id = `virtual:${name}`
  return {
    name,
    resolveId: (specifier: string) => (specifier === id ? `\0${id}` : undefined),
    load: (specifier: string) => (specifier === `\0${id}` ? source() : undefined),
  }
}

function withoutSchemas({ method, path, media, response }: Call | DeviceCall): string {
  return JSON.stringify({ method, path, media, response: response === null ? null : {} })
}
