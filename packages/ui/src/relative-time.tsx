import { lastSeen, timeLeft } from './last-seen.ts'
import { useNow } from './now.ts'

/** How long ago something was, with the exact time on hover. */
export function RelativeTime({ at }: { at: string | null }) {
  const now = useNow()
  if (at === null) return <span>{lastSeen(null, now)}</span>
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {lastSeen(at, now)}
    </time>
  )
}

/** How far ahead something is, with the exact time on hover. */
export function TimeLeft({ until }: { until: string }) {
  const now = useNow()
  return (
    <time dateTime={until} title={new Date(until).toLocaleString()}>
      {timeLeft(until, now)}
    </time>
  )
}

/** An exact time, with how long ago it was on hover; for records, such as the audit log. */
export function ExactTime({ at }: { at: string }) {
  const now = useNow()
  return (
    <time dateTime={at} title={lastSeen(at, now)}>
      {new Date(at).toLocaleString()}
    </time>
  )
}

/** When something was where it was, with the time of the person who looks and how long ago it was on hover. */
export function SiteTime({ at, timeZone }: { at: string; timeZone: string | null }) {
  const now = useNow()
  const date = new Date(at)
  const zone = timeZone === null ? {} : { timeZone, timeZoneName: 'short' as const }
  const shown = { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
  return (
    <time dateTime={at} title={`Here: ${date.toLocaleString()}, ${lastSeen(at, now)}`}>
      {date.toLocaleString(undefined, { ...shown, ...zone })}
    </time>
  )
}
