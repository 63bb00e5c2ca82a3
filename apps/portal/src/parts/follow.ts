/**
 * The values of a form when saved ones arrive: what was changed since `before` stays, the others are as `saved`. Save
 * gives what it sent as `before`, so that what a person types while it is under way is not replaced by the answer.
 */
export function follow<V extends object>(now: V, before: V, saved: V): V {
  const changed = (Object.keys(now) as (keyof V)[]).filter((name) => !sameValue(now[name], before[name]))
  return { ...saved, ...Object.fromEntries(changed.map((name) => [name, now[name]])) }
}

/** Lists are the same when they have the same texts in the same order. */
export const sameValue = (a: unknown, b: unknown): boolean => String(a) === String(b)
