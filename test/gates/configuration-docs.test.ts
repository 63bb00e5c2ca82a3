import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { channelTypes } from '../../apps/hub/src/notifications/channels.ts'
import { variables } from '../../apps/hub/src/read-config.ts'

const ROOT = join(import.meta.dirname, '../..')
const OPERATIONS = join(ROOT, 'docs/operations')
const page = readFileSync(join(OPERATIONS, 'configuration.md'), 'utf8')

/** Those of channels are not in the schema: a default is no value of the operator's. */
const channelDefaults = new Map<string, string | undefined>(
  channelTypes.flatMap(({ fields }) => Object.values(fields).map((field) => [field.variable, field.default] as const)),
)

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
    const known = Object.entries(variables.shape).map(([name, schema]) => [
      name,
      written(channelDefaults.get(name) ?? schema.parse(undefined)),
    ])
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(known))
    expect(listed).toHaveLength(known.length)
  })

  it.each([...readdirSync(OPERATIONS), '../../README.md'])('%s names only existing variables', (name) => {
    const named = new Set(readFileSync(join(OPERATIONS, name), 'utf8').match(/\bHUB_[A-Z_]+[A-Z]/g))
    for (const variable of named)
      expect(variables.shape).toHaveProperty(variable in variables.shape ? variable : variable.replace(/_FILE$/, ''))
  })

  it('agrees with the shorter table of the README on every default that is a value', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const rows = [...readme.matchAll(/^\| `(HUB_\w+)`(?:, `HUB_\w+`)? \| `?([^|,` ]+)`?(?:,[^|]+)? \|/gm)]
    const listed = rows.map(([, name, value]) => [name, value])
    expect(listed.length).toBeGreaterThan(5)
    for (const [name, value] of listed) {
      const schema = variables.shape[name as keyof typeof variables.shape]
      expect([name, value]).toEqual([name, written(schema.parse(undefined)).replaceAll('`', '')])
    }
  })
})
