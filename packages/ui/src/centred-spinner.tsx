import { Loader } from '@mantine/core'
import styles from './centred-spinner.module.css'

/** For the start-up check; pages have their own skeletons. */
export function CentredSpinner({ title = 'Hub' }: { title?: string }) {
  return (
    <>
      <title>{title}</title>
      <header className="visually-hidden">
        <h1>{title}</h1>
      </header>
      <main className={styles.centre} aria-busy="true">
        <output aria-label="Loading">
          <Loader size={32} />
        </output>
      </main>
    </>
  )
}
