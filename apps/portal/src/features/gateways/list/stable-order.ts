import type { Gateway } from '@hedgerow/contract'
import { useState } from 'react'

/** `now` in the order of `before`; new gateways come last. */
export function keepOrder(before: readonly Gateway[], now: readonly Gateway[]): readonly Gateway[] {
  const left = new Map(now.map((gateway) => [gateway.id, gateway]))
  const kept: Gateway[] = []
  for (const { id } of before) {
    const gateway = left.get(id)
    if (gateway === undefined) continue
    kept.push(gateway)
    left.delete(id)
  }
  return [...kept, ...left.values()]
}

/**
 * `sorted`, but in its previous order while `held`: a refresh must not move another row under the pointer. `asked` is
 * the order that the person chose; a change of it applies at once.
 */
export function useStableOrder(sorted: readonly Gateway[], asked: string, held: boolean): readonly Gateway[] {
  const [kept, setKept] = useState({ asked, source: sorted, order: sorted })
  let now = kept
  if (kept.asked !== asked || (!held && kept.order !== sorted)) now = { asked, source: sorted, order: sorted }
  else if (kept.source !== sorted) now = { asked, source: sorted, order: keepOrder(kept.order, sorted) }
  if (now !== kept) setKept(now)
  return now.order
}
