/** What may stand at a place of gateway.yaml: keys and values from its JSON Schema, and names that exist. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { yamlLanguage } from '@codemirror/lang-yaml'

type Node = ReturnType<typeof yamlLanguage.parser.parse>['topNode']

/** As much of JSON Schema as zod writes. */
export type Schema = {
  type?: string
  description?: string
  default?: unknown
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  items?: Schema | boolean
  prefixItems?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
}

export type Names = { cameras: readonly string[]; deterrents: readonly string[] }

/** The key whose values name something. */
const NAMED: Readonly<Record<string, 'cameras' | 'deterrents' | 'zones'>> = {
  cameras: 'cameras',
  watchedBy: 'cameras',
  zones: 'zones',
  fire: 'deterrents',
}

/** Stands where something is typed, so that the text around it can be parsed. */
const PROBE = 'zzprobezz'
const TYPED = /^[^,[\]{}:#"'\n]*$/
const REST = /^[^,[\]{}:#"'\n]*/

export function createCompletion(schema: Schema, names: () => Names) {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const line = state.doc.lineAt(pos)
    const before = line.text.slice(0, pos - line.from)
    const last = before
      .split(/[,{[]|:\s/)
      .at(-1)!
      .trimStart()
    const typed = last.replace(/^(?:-\s+)+/, '')
    if (!TYPED.test(typed) || (typed === '' && !explicit)) return null
    const from = pos - typed.length
    const head = state.doc.sliceString(0, from)
    const tail = state.doc.sliceString(pos).replace(REST, '')
    const isValue = /:\s+$/.test(before.slice(0, from - line.from))
    const hasColon = tail.startsWith(':')
    const keys = isValue ? [] : keysAt(placeIn(head, tail, hasColon ? '' : ': 0'), schema, hasColon)
    if (keys.length > 0) return { from, options: keys, validFor: TYPED }
    const options = hasColon ? [] : valuesAt(placeIn(head, tail, ''), schema, namesIn(`${head}${tail}`, names()))
    return options.length === 0 ? null : { from, options, validFor: TYPED }
  }
}

/** `path`: the keys around the place; null for an item of a list. `present`: what its group has already, as text. */
type Place = { path: (string | null)[]; present: Record<string, string> }

function placeIn(head: string, tail: string, after: string): Place | undefined {
  const text = `${head}${PROBE}${after}${tail}`
  let node: Node | null = yamlLanguage.parser.parse(text).resolveInner(head.length, 1)
  if (text.slice(node.from, node.to) !== PROBE) return undefined
  const path: Place['path'] = []
  let present: Place['present'] | undefined
  let isKey = false
  for (; node; node = node.parent) {
    const { name }: Node = node
    if (name === 'Key') isKey = true
    else if (name === 'Pair' && isKey) isKey = false
    else if (name === 'Pair') path.unshift(keyOf(node, text) ?? '')
    else if (name === 'Item') path.unshift(null)
    else if (name === 'BlockMapping' || name === 'FlowMapping') present ??= pairsOf(node, text)
  }
  return { path, present: present ?? {} }
}

function pairsOf(mapping: Node, text: string): Record<string, string> {
  const pairs = mapping.getChildren('Pair').map((pair) => {
    const { lastChild } = pair
    return [keyOf(pair, text) ?? '', lastChild ? textOf(lastChild, text) : '']
  })
  return Object.fromEntries(pairs) as Record<string, string>
}

function keyOf(pair: Node, text: string): string | undefined {
  const key = pair.getChild('Key')
  return key ? textOf(key, text) : undefined
}

const textOf = ({ from, to }: Node, text: string) => text.slice(from, to).replaceAll(/^["']|["']$/g, '')

/** The alternatives for a place, without those that contradict what is there. */
function schemasAt(path: Place['path'], root: Schema, present: Place['present'] = {}): Schema[] {
  let all = variantsOf(root)
  for (const key of path)
    all = all.flatMap((schema) => {
      const below = key === null ? itemsOf(schema) : (schema.properties?.[key] ?? schema.additionalProperties)
      return typeof below === 'object' ? variantsOf(below) : []
    })
  return all.filter(({ properties = {} }) =>
    Object.entries(present).every(([key, value]) => {
      const fixed = properties[key]?.const
      return fixed === undefined || value === '' || value === fixed
    }),
  )
}

const variantsOf = (schema: Schema): Schema[] => (schema.anyOf ?? schema.oneOf)?.flatMap(variantsOf) ?? [schema]
const itemsOf = ({ items, prefixItems }: Schema) => (typeof items === 'object' ? items : prefixItems?.[0])

function keysAt(place: Place | undefined, root: Schema, hasColon: boolean): Completion[] {
  if (!place) return []
  const options = new Map<string, Completion>()
  for (const { properties = {}, required = [] } of schemasAt(place.path, root, place.present))
    for (const [key, { description, default: fallback }] of Object.entries(properties)) {
      if (Object.hasOwn(place.present, key) || options.has(key)) continue
      const isPlain = ['string', 'number', 'boolean'].includes(typeof fallback)
      options.set(key, {
        label: key,
        apply: hasColon ? key : `${key}: `,
        detail: required.includes(key) ? 'required' : isPlain ? `default ${String(fallback)}` : '',
        ...(description !== undefined && { info: description }),
        boost: required.includes(key) ? 1 : 0,
      })
    }
  return [...options.values()]
}

type AllNames = Record<'cameras' | 'deterrents' | 'zones', ReadonlySet<string>>

function valuesAt(place: Place | undefined, root: Schema, names: AllNames): Completion[] {
  if (!place) return []
  const named = NAMED[place.path.findLast((key) => key !== null) ?? '']
  const schemas = schemasAt(place.path, root)
  const isText = schemas.some(({ type }) => type === 'string')
  const values = schemas.flatMap((schema) =>
    schema.const !== undefined ? [schema.const] : (schema.enum ?? (schema.type === 'boolean' ? [true, false] : [])),
  )
  const known = named !== undefined && isText && place.path.length > 1 ? [...names[named]] : []
  return [...new Set([...values.map(String), ...known])].map((label) => ({ label }))
}

/** The names that the text itself gives, beside those of the device. */
function namesIn(text: string, { cameras, deterrents }: Names): AllNames {
  const { topNode } = yamlLanguage.parser.parse(text)
  const found = { cameras: new Set(cameras), deterrents: new Set(deterrents), zones: new Set<string>() }
  const groups = (node: Node | null | undefined) => {
    const mapping = node?.getChild('BlockMapping') ?? node?.getChild('FlowMapping')
    return mapping?.getChildren('Pair').map((pair) => ({ key: keyOf(pair, text) ?? '', pair })) ?? []
  }
  for (const { key, pair } of groups(topNode.getChild('Document')))
    for (const { key: name, pair: entry } of key === 'cameras' || key === 'deterrents' ? groups(pair) : []) {
      found[key as 'cameras' | 'deterrents'].add(name)
      for (const { key: inner, pair: zones } of key === 'cameras' ? groups(entry) : [])
        if (inner === 'zones') for (const zone of groups(zones)) found.zones.add(zone.key)
    }
  return found
}
