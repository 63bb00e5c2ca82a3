/** Reads the values of gateway.yaml as they are written. */
export type Group = { [key: string]: unknown }

/** The group of keys at a path, as it is written; empty when the file has none. */
export function groupIn(settings: Group, ...path: string[]): Group {
  return path.reduce<Group>((at, key) => {
    const value = at[key]
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Group) : {}
  }, settings)
}

export function listIn(group: Group, key: string): unknown[] {
  const value = group[key]
  return Array.isArray(value) ? value : []
}
