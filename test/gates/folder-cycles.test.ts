import { expect, test } from 'vitest'
import { folderCycles } from '../../scripts/folder-cycles.ts'

const fleet = { path: 'apps/hub/src/fleet/list.ts', text: `import { open } from '../tunnel/tunnel.ts'` }
const tunnel = { path: 'apps/hub/src/tunnel/peers.ts', text: `import type { Row } from '../fleet/rows.ts'` }

test('two folders that import each other are a cycle, types included, though no two files are', () => {
  expect(folderCycles([fleet, tunnel])).toEqual([
    [
      'apps/hub/src: fleet -> tunnel -> fleet',
      '  apps/hub/src/fleet/list.ts imports ../tunnel/tunnel.ts',
      '  apps/hub/src/tunnel/peers.ts imports ../fleet/rows.ts',
    ].join('\n'),
  ])
})

test('folders that import each other in one direction are no cycle', () => {
  expect(folderCycles([fleet, { path: 'apps/hub/src/tunnel/peers.ts', text: `import './keys.ts'` }])).toEqual([])
})
