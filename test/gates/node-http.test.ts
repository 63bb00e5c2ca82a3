import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const VALUES_OF_NODE_HTTP = /^import (?!type\b)[^']*'node:http'/m

test('the agent takes Node’s HTTP from @hedgerow/http: an import of node:http would load undici', () => {
  const files = globSync(['apps/gateway/src/**/*.ts', 'packages/http/src/**/*.ts'], { cwd: root })
  const own = files.filter((file) => !file.endsWith('.test.ts'))
  expect(own).toContain(join('apps', 'gateway', 'src', 'kernel', 'http-call.ts'))
  expect(own.filter((file) => VALUES_OF_NODE_HTTP.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
