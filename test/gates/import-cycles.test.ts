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

test('a file and a folder beside it that import each other are a cycle, though no two files are', () => {
  const config = { path: 'apps/hub/src/config.ts', text: `import { channels } from './notifications/channels.ts'` }
  const outbox = { path: 'apps/hub/src/notifications/outbox.ts', text: `import type { Config } from '../config.ts'` }
  expect(importCycles([config, outbox])).toEqual([
    [
      'apps/hub/src: config.ts -> notifications -> config.ts',
      '  apps/hub/src/config.ts imports ./notifications/channels.ts',
      '  apps/hub/src/notifications/outbox.ts imports ../config.ts',
    ].join('\n'),
  ])
})

test('an alias of package.json counts as its folder', () => {
  const client = { path: 'apps/portal/src/api/client.ts', text: `import { Banner } from '../parts/banner.tsx'` }
  const tabs = { path: 'apps/portal/src/parts/tabs.tsx', text: `import { session } from '#api/session.tsx'` }
  expect(importCycles([client, tabs])).toHaveLength(1)
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
