import { Loader } from '@mantine/core'
import styles from './centred-spinner.module.css'

/** The start-up check; pages have skeletons of their own. */
export function CentredSpinner() {
  return (
    <main className={styles.centre} aria-busy="true">
      <Loader size={32} role="status" aria-label="Loading" />
    </main>
  )
}
