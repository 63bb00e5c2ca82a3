/** Adds to the lists of addresses and ranges: strict format, no duplicates, blank entries ignored. Pure. */
import { ipAddress, networkRange } from '@hedgerow/contract'
import { IP_DUPLICATE, RANGE_DUPLICATE } from './messages.ts'

const KINDS = {
  ip: { schema: ipAddress, duplicate: IP_DUPLICATE },
  range: { schema: networkRange, duplicate: RANGE_DUPLICATE },
} as const

export type EntryKind = keyof typeof KINDS
export type Added = { list: readonly string[]; problem?: string }

/** The list with `text` at its end, or the same list with the problem. A blank text changes nothing. */
export function addEntry(list: readonly string[], text: string, kind: EntryKind): Added {
  if (text.trim() === '') return { list }
  const { schema, duplicate } = KINDS[kind]
  const parsed = schema.safeParse(text)
  if (!parsed.success) return { list, problem: parsed.error.issues[0]?.message ?? '' }
  const entry = parsed.data.toLowerCase()
  if (list.some((existing) => existing.toLowerCase() === entry)) return { list, problem: duplicate }
  return { list: [...list, entry] }
}
