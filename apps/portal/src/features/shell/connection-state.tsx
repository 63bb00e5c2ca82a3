import { useEffect } from 'react'
import { useLiveUpdates } from '#api/events.ts'
import { postLostSince } from '#api/service-worker.ts'
import styles from './shell.module.css'

/** Shows since when the hub does not answer; empty while it answers. */
export function ConnectionState() {
  const since = useLiveUpdates()
  useEffect(() => postLostSince(since ?? null), [since])
  return (
    <output className={styles.connection} data-lost={since !== undefined}>
      {since === undefined ? '' : `No connection since ${timeOf(since)}`}
    </output>
  )
}

const timeOf = (ms: number) => new Date(ms).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
