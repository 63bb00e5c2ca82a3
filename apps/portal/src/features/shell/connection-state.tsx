import { useLiveUpdates } from '#api/events.ts'
import styles from './top-bar.module.css'

/** Says when the hub does not answer; silent while all is well. */
export function ConnectionState() {
  const state = useLiveUpdates()
  return (
    <output className={styles.connection} data-state={state}>
      {state === 'reconnecting' ? 'reconnecting…' : ''}
    </output>
  )
}
