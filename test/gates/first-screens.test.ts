import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseSync } from 'oxc-parser'
import { describe, expect, it } from 'vitest'

/**
 * What the portal's most opened screens load at once contains no schemas and no menus. Zod and the contract's schemas
 * (30 kB) load with the first form; constants and types of the contract come from modules without them. What Mantine
 * places beside another element (26 kB) loads once somebody is about to open it.
 */

const root = resolve(import.meta.dirname, '../..')
const portal = resolve(root, 'apps/portal/src')
const ui = resolve(root, 'packages/ui/src')

const screens = [
  'features/shell/layout.tsx',
  'features/command-palette/command-palette.tsx',
  'features/dashboard/page.tsx',
  'features/dashboard/network-chart.tsx',
  'features/gateways/list/page.tsx',
  'features/threats/page.tsx',
  'features/cameras/page.tsx',
]

const placed = [
  'Menu',
  'Popover',
  'HoverCard',
  'Tooltip',
  'Combobox',
  'Select',
  'MultiSelect',
  'Autocomplete',
  'TagsInput',
]

/** The file of a module of ours; undefined for packages. */
function fileOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return resolve(dirname(from), specifier)
  if (specifier.startsWith('#')) return resolve(portal, specifier.slice(1))
  if (specifier.startsWith('@hedgerow/ui/')) return resolve(ui, specifier.slice('@hedgerow/ui/'.length))
  return undefined
}

type Import = { from: string; names: string[] }

/** What a file imports at run time, and not lazily. */
function importsOf(file: string): Import[] {
  const { module, errors } = parseSync(file, readFileSync(file, 'utf8'))
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const imported = module.staticImports.filter(
    ({ entries }) => entries.length === 0 || entries.some((one) => !one.isType),
  )
  return imported.map(({ moduleRequest, entries }) => ({
    from: moduleRequest.value,
    names: entries.filter((one) => !one.isType).map(({ importName }) => importName.name ?? '*'),
  }))
}

const isSchema = ({ from }: Import) => from === 'zod' || from === '@hedgerow/contract'
const isPlaced = ({ from, names }: Import) =>
  from === '@mantine/core' && names.some((name) => name === '*' || placed.includes(name))

/** Those among all imports that a file loads, each with the file that imports it. */
function findImports(start: string, isSought: (one: Import) => boolean): string[] {
  const found: string[] = []
  const files = new Set([start])
  for (const file of files)
    for (const one of importsOf(file)) {
      if (isSought(one)) found.push(`${file.slice(root.length + 1)} imports ${one.from}`)
      const next = fileOf(one.from, file)
      if (next !== undefined && /\.tsx?$/.test(next)) files.add(next)
    }
  if (files.size < 2) throw new Error(`${start} imports nothing of ours`)
  return found
}

describe('a first screen of the portal', () => {
  it.each(screens)('%s loads no schemas', (screen) => {
    const file = resolve(portal, screen)
    expect(existsSync(file)).toBe(true)
    expect(findImports(file, isSchema)).toEqual([])
  })

  it.each(screens)('%s loads no menu', (screen) => {
    expect(findImports(resolve(portal, screen), isPlaced)).toEqual([])
  })
})
