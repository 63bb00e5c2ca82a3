/**
 * The values of a form when saved ones arrive: what was changed since `before` stays, the others are as `saved`. For
 * Save, `before` is what was sent, so that its answer does not replace what a person typed meanwhile.
 */
export function follow<V extends object>(now: V, before: V, saved: V): V {
  const changed = (Object.keys(now) as (keyof V)[]).filter((name) => !sameValue(now[name], before[name]))
  return { ...saved, ...Object.fromEntries(changed.map((name) => [name, now[name]])) }
}

/** Lists are the same when they have the same texts in the same order. */
export const sameValue = (a: unknown, b: unknown): boolean => String(a) === String(b)
