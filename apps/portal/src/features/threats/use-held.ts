import type { Incident } from '@hedgerow/contract'
import { useEffect, useMemo, useState } from 'react'

/** Who has scrolled further than this reads older ones. */
const TOP_PX = 200

/** Nothing is put above what a person reads: what arrives waits while they have scrolled down. */
export function useHeld(incidents: readonly Incident[]): { shown: readonly Incident[]; waiting: number } {
  const [newest, setNewest] = useState<string>()
  const first = incidents[0]?.startedAt
  useEffect(() => {
    const onScroll = () => setNewest((now) => (window.scrollY < TOP_PX ? undefined : (now ?? first)))
    window.addEventListener('scroll', onScroll, { passive: true })
    return () => window.removeEventListener('scroll', onScroll)
  }, [first])
  const shown = useMemo(
    () => (newest === undefined ? incidents : incidents.filter(({ startedAt }) => startedAt <= newest)),
    [incidents, newest],
  )
  return { shown, waiting: incidents.length - shown.length }
}
