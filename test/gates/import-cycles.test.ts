import { expect, test } from 'vitest'
import { importCycles } from '../../scripts/import-cycles.ts'

const fleet = { path: 'apps/hub/src/fleet/list.ts', text: `import { open } from '../tunnel/tunnel.ts'` }
const tunnel = { path: 'apps/hub/src/tunnel/peers.ts', text: `import type { Row } from '../fleet/rows.ts'` }

test('two folders that import each other are a cycle, types included, though no two files are', () => {
  expect(importCycles([fleet, tunnel])).toEqual([
    [
      'apps/hub/src: fleet -> tunnel -> fleet',
      '  apps/hub/src/fleet/list.ts imports ../tunnel/tunnel.ts',
      '  apps/hub/src/tunnel/peers.ts imports ../fleet/rows.ts',
    ].join('\n'),
  ])
})

test('folders that import each other in one direction are no cycle', () => {
  expect(importCycles([fleet, { path: 'apps/hub/src/tunnel/peers.ts', text: `import './keys.ts'` }])).toEqual([])
})

test('two files that import each other are a cycle, also by a type and import()', () => {
  const page = { path: 'apps/portal/src/page.tsx', text: `const list = lazy(() => import('./list.tsx'))` }
  const list = { path: 'apps/portal/src/list.tsx', text: `import type { Row } from './page.tsx'` }
  expect(importCycles([page, list])).toEqual([
    [
      'apps/portal/src/page.tsx -> apps/portal/src/list.tsx -> apps/portal/src/page.tsx',
      '  apps/portal/src/page.tsx imports ./list.tsx',
      '  apps/portal/src/list.tsx imports ./page.tsx',
    ].join('\n'),
  ])
})
