import styles from './recognition.module.css'

/**
 * Covers the landing page while visit.ts finds out whether whoever comes is signed in, and so belongs on the dashboard.
 */
export function Recognition() {
  return (
    <output className={styles.recognition}>
      <span className={styles.spinner} />
      <span className={styles.word}>Loading</span>
    </output>
  )
}
