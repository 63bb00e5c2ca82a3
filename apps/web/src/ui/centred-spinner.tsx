import { Loader } from '@mantine/core'
import styles from './centred-spinner.module.css'

/** The start-up check; pages have skeletons of their own. */
export function CentredSpinner() {
  return (
    <main className={styles.centre} aria-busy="true">
      <title>Hub</title>
      <output aria-label="Loading">
        <Loader size={32} />
      </output>
    </main>
  )
}
