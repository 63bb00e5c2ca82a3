/** Parses typed tags, and counts the gateways of each tag. Pure. */

/** The tags of `north, orchard`: commas or spaces separate them. */
export function tagsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).map((tag) => tag.toLowerCase()))].filter((tag) => tag !== '')
}

/** The number of gateways of each tag, in alphabetical order. */
export function countTags(gateways: readonly { tags: readonly string[] }[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { tags } of gateways) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return new Map([...counts].toSorted(([a], [b]) => a.localeCompare(b)))
}

/** The tags of a list to choose from. A chosen tag that no gateway has any more stays in it. */
export function tagOptions(counts: ReadonlyMap<string, number>, chosen: string): (readonly [string, string])[] {
  const existing = [...counts].map(([tag, count]) => [tag, `${tag} (${count.toLocaleString()})`] as const)
  const gone = chosen !== '' && !counts.has(chosen) ? [[chosen, `${chosen} (0)`] as const] : []
  return [['', 'Any tag'], ...existing, ...gone]
}
