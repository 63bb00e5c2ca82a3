import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorTable } from '@hedgerow/contract'
import { describe, expect, it } from 'vitest'
import { audienceOf } from '../../apps/hub/src/access/policy.ts'
import { describedCalls } from '../../apps/hub/src/http/openapi.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../docs/api.md'), 'utf8')
const documented = Object.fromEntries(
  [...text.matchAll(/^### (\w+)\n\n(\d{3})\. .+$/gm)].map(([, code, status]) => [code, Number(status)]),
)

describe('docs/api.md', () => {
  it('has an anchor for every error code, with its status, and for no other', () => {
    const table = Object.entries(errorTable).map(([code, { status }]) => [code, status])
    expect(documented).toEqual(Object.fromEntries(table))
  })

  it('lists every call with its name in the contract and who may make it', () => {
    const listed = [...text.matchAll(/^\| `([A-Z]+ \S+)` \| (\w+) \| (\w+) \|$/gm)].map(([, ...cells]) => cells)
    expect(listed).toEqual(
      describedCalls().map(({ method, path, name, access }) => [`${method} ${path}`, name, audienceOf(access)]),
    )
  })
})
