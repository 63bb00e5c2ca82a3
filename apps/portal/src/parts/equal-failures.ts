import type { Outcome } from './one-by-one.ts'

/** Failures with the same message, when they are more than `least`, by the message: one sentence is enough for them. */
export function equalFailures<Item extends { key: string }>(
  items: readonly Item[],
  outcomes: ReadonlyMap<string, Outcome>,
  least: number,
): [message: string, items: Item[]][] {
  const failed = items.filter(({ key }) => outcomes.get(key)?.done === false)
  const groups = Map.groupBy(failed, ({ key }) => outcomes.get(key)?.message ?? '')
  return [...groups].filter(([, same]) => same.length > least)
}
