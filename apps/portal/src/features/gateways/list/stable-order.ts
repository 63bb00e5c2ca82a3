import type { Gateway } from '@hedgerow/contract'
import { useState } from 'react'

/** `now` in the order of `before`; new gateways come last. */
export function keepOrder(before: readonly Gateway[], now: readonly Gateway[]): readonly Gateway[] {
  const left = new Map(now.map((gateway) => [gateway.id, gateway]))
  const remaining: Gateway[] = []
  for (const { id } of before) {
    const gateway = left.get(id)
    if (gateway === undefined) continue
    remaining.push(gateway)
    left.delete(id)
  }
  return [...remaining, ...left.values()]
}

/**
 * `sorted`, but in its previous order while `held`: a refresh must not move another row under the pointer. `requested`
 * is the order that the person chose; a change of it applies at once.
 */
export function useStableOrder(sorted: readonly Gateway[], requested: string, held: boolean): readonly Gateway[] {
  const [stored, setStored] = useState({ requested, source: sorted, order: sorted })
  let now = stored
  if (stored.requested !== requested || (!held && stored.order !== sorted))
    now = { requested, source: sorted, order: sorted }
  else if (stored.source !== sorted) now = { requested, source: sorted, order: keepOrder(stored.order, sorted) }
  if (now !== stored) setStored(now)
  return now.order
}
