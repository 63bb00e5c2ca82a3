/** What a person typed into a small form of gateway.yaml, and the edits that it means. */
import type { SettingsEdit } from '@hedgerow/contract/device-interface'
import { groupIn, type Group } from '../written.ts'

type Value = NonNullable<SettingsEdit['value']>

/** A value of gateway.yaml. An empty field deletes it, so that `usual` holds; an empty `secret` stays as it is. */
export type Field = {
  path: readonly [string, ...string[]]
  label: string
  description?: string
  /** `list`: texts with commas between. `scores`: `deer: 0.7`, with commas between. */
  kind: 'text' | 'number' | 'list' | 'scores' | 'secret' | readonly (readonly [value: string, words: string])[]
  /** What holds when the file has none, in words. */
  usual?: string
}

/** By the number of the field; null removes a secret. */
export type Typed = Readonly<Record<number, string | null>>

/** A secret that is named, and not in the file itself. */
const NAMED = /^(?:!file \S.*|\$\{[A-Za-z_]\w*\})$/

export function valueIn(settings: Group, { path }: Field): unknown {
  return groupIn(settings, ...path.slice(0, -1))[path.at(-1)!]
}

/** The text of a field before somebody types; a secret that the file itself holds is not shown. */
export function textOf({ kind }: Field, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (kind === 'secret') return NAMED.test(String(value)) ? String(value) : ''
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value !== 'object') return String(value)
  return Object.entries(value)
    .map(([label, score]) => `${label}: ${String(score)}`)
    .join(', ')
}

/** `groups`: those that go when all their fields are empty, outer ones first. */
export function editsOf(
  fields: readonly Field[],
  groups: readonly (readonly string[])[],
  settings: Group,
  typed: Typed,
): SettingsEdit[] {
  const results = fields.map((field, index) => resultOf(field, valueIn(settings, field), typed[index]))
  const isIn = (group: readonly string[]) => (field: Field) => group.every((key, at) => field.path[at] === key)
  const groupOf = (field: Field) =>
    groups.find((group) => isIn(group)(field) && fields.every((each, at) => !isIn(group)(each) || results[at]!.isEmpty))
  const changed = fields.flatMap((field, index) => {
    const { isChanged, value } = results[index]!
    return isChanged ? [{ path: [...(groupOf(field) ?? field.path)], ...(value !== undefined && { value }) }] : []
  })
  return changed.filter(({ path }, index) => changed.findIndex((other) => other.path.join() === path.join()) === index)
}

function resultOf(field: Field, before: unknown, typed: string | null | undefined) {
  const shown = textOf(field, before)
  const isSecret = field.kind === 'secret'
  if (typed === undefined || typed === shown || (isSecret && typed === ''))
    return { isChanged: false, isEmpty: isSecret ? (before ?? '') === '' : shown === '' }
  const value = valueOf(field, typed ?? '')
  return { isChanged: true, isEmpty: value === undefined, value }
}

/** Undefined for an empty field. What is no number stays as it was typed: the device says what is wrong with it. */
function valueOf({ kind }: Field, text: string): Value | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  if (kind === 'secret') return text
  if (kind === 'number') return Number(trimmed)
  if (kind === 'list') return partsOf(trimmed)
  if (kind === 'scores') return Object.fromEntries(partsOf(trimmed).map(scoreOf))
  return typeof kind !== 'string' && /^(?:true|false)$/.test(trimmed) ? trimmed === 'true' : trimmed
}

const partsOf = (text: string) => text.split(',').flatMap((part) => part.trim() || [])

function scoreOf(part: string): [label: string, score: number | string] {
  const colon = part.lastIndexOf(':')
  const [label, score] = colon < 1 ? [part, ''] : [part.slice(0, colon).trim(), part.slice(colon + 1).trim()]
  return [label, score === '' || Number.isNaN(Number(score)) ? score : Number(score)]
}
