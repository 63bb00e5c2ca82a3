import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { variables } from '../../apps/hub/src/config.ts'

const ROOT = join(import.meta.dirname, '../..')
const OPERATIONS = join(ROOT, 'docs/operations')
const page = readFileSync(join(OPERATIONS, 'configuration.md'), 'utf8')

/** The default as the page writes it. */
function written(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none'
  if (typeof value === 'object' && value && 'first' in value && 'last' in value)
    return `\`${String(value.first)}-${String(value.last)}\``
  return `\`${String(value).startsWith('/') ? relative(ROOT, String(value)) : String(value)}\``
}

describe('docs/operations', () => {
  it('lists every variable of the hub with its default, and no other', () => {
    const listed = [...page.matchAll(/^\| `(HUB_\w+)` \| ([^|]+?) \|/gm)].map(([, name, value]) => [name, value])
    const known = Object.entries(variables.shape).map(([name, schema]) => [name, written(schema.parse(undefined))])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(known))
    expect(listed).toHaveLength(known.length)
  })

  it.each(readdirSync(OPERATIONS))('%s names no variable that there is none of', (name) => {
    const named = new Set(readFileSync(join(OPERATIONS, name), 'utf8').match(/\bHUB_[A-Z_]+[A-Z]/g))
    for (const variable of named)
      expect(variables.shape).toHaveProperty(variable in variables.shape ? variable : variable.replace(/_FILE$/, ''))
  })
})
