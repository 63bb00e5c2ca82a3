import { isPersonLabel } from '../../kernel/person-label.ts'

/** The labels that have an attribute, by attribute. */
export type AttributeOwners = ReadonlyMap<string, readonly string[]>

/** Frigate's own, for as long as its configuration is not known (its const.py). */
const PERSON_ATTRIBUTES = ['amazon', 'face']

/** From `model.attributes_map`: the attributes of each label. */
export function ownersOf(map: Readonly<Record<string, readonly string[]>> | undefined): AttributeOwners {
  const owners = new Map<string, string[]>(PERSON_ATTRIBUTES.map((name) => [name, ['person']]))
  for (const [label, attributes] of Object.entries(map ?? {}))
    for (const attribute of attributes) owners.set(attribute, [...(owners.get(attribute) ?? []), label])
  return owners
}

/**
 * The labels that the name of an object in a review item may stand for: `person-verified` and `person: Ann` are a
 * person, and `amazon` a person or a car. A person comes first: what may be one counts as one.
 */
export function labelsOfName(name: string, owners: AttributeOwners): [string, ...string[]] {
  const plain = name.replace(/-verified$/, '')
  const [kind = ''] = plain.split(': ', 1)
  const labels = owners.get(plain)?.toSorted((a, b) => Number(isPersonLabel(b)) - Number(isPersonLabel(a))) ?? []
  return [labels[0] ?? (kind || plain), ...labels.slice(1)]
}
