import type { Gateway } from '@hedgerow/contract'
import { useState } from 'react'

/** `now` as `before` had it; what is new comes last. */
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
 * `sorted`, in the order that it had before while `held`: a refresh must not put another row under the pointer that is
 * about to press. `asked` is the order that the person asked for; another one holds at once.
 */
export function useStableOrder(sorted: readonly Gateway[], asked: string, held: boolean): readonly Gateway[] {
  const [kept, setKept] = useState({ asked, source: sorted, order: sorted })
  let now = kept
  if (kept.asked !== asked || (!held && kept.order !== sorted)) now = { asked, source: sorted, order: sorted }
  else if (kept.source !== sorted) now = { asked, source: sorted, order: keepOrder(kept.order, sorted) }
  if (now !== kept) setKept(now)
  return now.order
}
