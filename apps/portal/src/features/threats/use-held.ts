import type { Incident } from '@hedgerow/contract'
import { useEffect, useState } from 'react'

/** Beyond this scroll position, a person reads older incidents. */
const TOP_PX = 200

/**
 * New incidents wait while a person has scrolled down, so that nothing moves above what they read: also those of a
 * gateway that was without a network for an hour.
 */
export function useHeld(incidents: readonly Incident[]): { shown: readonly Incident[]; waiting: number } {
  const [isHeld, setHeld] = useState(false)
  const [{ of, shown }, setShown] = useState({ of: incidents, shown: incidents })
  useEffect(() => {
    const onScroll = () => setHeld(window.scrollY >= TOP_PX)
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => window.removeEventListener('scroll', onScroll)
  }, [])
  const next = !isHeld ? incidents : of === incidents ? shown : withoutNew(incidents, shown)
  if (of !== incidents || shown !== next) setShown({ of: incidents, shown: next })
  return { shown: next, waiting: incidents.length - next.length }
}

/** Leaves out those that came between or before `shown` since; those after them are older, and were asked for. */
export function withoutNew<I extends { id: string }>(incidents: readonly I[], shown: readonly I[]): readonly I[] {
  const ids = new Set(shown.map(({ id }) => id))
  const last = incidents.findLastIndex(({ id }) => ids.has(id))
  return incidents.filter(({ id }, index) => index > last || ids.has(id))
}
