/** The tags of a gateway as its row has them: a JSON array, sorted. */
import type { RawBuilder, SqlBool } from 'kysely'
import { holding } from './holding.ts'

const NO_TAGS = '[]'

export function tagsOf({ tags }: { tags: string }): string[] {
  return tags === NO_TAGS ? [] : (JSON.parse(tags) as string[])
}

/** Matches gateways with this tag, to the letter. */
export function hasTag(tag: string): RawBuilder<SqlBool> {
  return holding(JSON.stringify(tag), ['gateways.tags'])
}
