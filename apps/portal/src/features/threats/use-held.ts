import type { Incident } from '@hedgerow/contract'
import { useEffect, useMemo, useState } from 'react'

/** Beyond this scroll position, a person reads older incidents. */
const TOP_PX = 200

/** New incidents wait while a person has scrolled down, so that nothing moves above what they read. */
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
