import { isDeepStrictEqual } from 'node:util'
import { HubError } from './hub-error.ts'

/** What a caller changes, and the values of fields that it saw before. */
export type Change<V> = { readonly [Name in keyof V]?: V[Name] | undefined } & {
  readonly seen?: Readonly<Partial<Record<string, unknown>>> | undefined
}

/**
 * `current` with the change. Throws `changed_meanwhile` when a field no longer has the value that the caller saw; one
 * that has the caller's new value already is no conflict, so a call whose answer was lost can be repeated.
 */
export function edited<V extends object>(current: V, { seen = {}, ...change }: Change<V>): V {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  const after = { ...current, ...given }
  const stale = Object.entries(seen).filter(([name, value]) => {
    const now = current[name as keyof V]
    return !isDeepStrictEqual(now, value) && !isDeepStrictEqual(now, given[name])
  })
  if (stale.length > 0)
    throw new HubError('changed_meanwhile', {
      fieldErrors: Object.fromEntries(stale.map(([name]) => [name, 'Somebody else changed this meanwhile.'])),
    })
  return after
}
