/**
 * The values of a form when saved ones arrive: what was changed since `before` stays, the others are as `saved`. For
 * Save, `before` is what was sent, so that its answer does not replace what a person typed meanwhile.
 */
export function follow<V extends object>(now: V, before: V, saved: V): V {
  const changed = (Object.keys(now) as (keyof V)[]).filter((name) => !sameValue(now[name], before[name]))
  return { ...saved, ...Object.fromEntries(changed.map((name) => [name, now[name]])) }
}

/**
 * The body of a PATCH: what a person changed since `before`, so that nothing else is reset, and `seen`, so that a
 * change that somebody else made meanwhile is not lost.
 */
export function changesOf<V extends object>(now: V, before: V): Partial<V> & { seen: object } {
  const names = (Object.keys(now) as (keyof V)[]).filter((name) => !sameJson(now[name], before[name]))
  const pick = (of: V) => Object.fromEntries(names.map((name) => [name, of[name]]))
  return { ...(pick(now) as Partial<V>), seen: pick(before) }
}

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** Lists are the same when they have the same texts in the same order. */
export const sameValue = (a: unknown, b: unknown): boolean => String(a) === String(b)
