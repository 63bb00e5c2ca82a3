import { Loader } from '@mantine/core'
import styles from './centred-spinner.module.css'

/** The start-up check; pages have skeletons of their own. */
export function CentredSpinner() {
  return (
    <>
      <title>Hub</title>
      <header className="visually-hidden">
        <h1>Hub</h1>
      </header>
      <main className={styles.centre} aria-busy="true">
        <output aria-label="Loading">
          <Loader size={32} />
        </output>
      </main>
    </>
  )
}
