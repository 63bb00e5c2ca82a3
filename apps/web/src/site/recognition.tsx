import styles from './recognition.module.css'

/** Covers the landing page while visit.ts finds out whether whoever comes is signed in, and so belongs on the dashboard. */
export function Recognition() {
  return (
    <p className={styles.recognition} role="status">
      <span className={styles.spinner} />
      <span className={styles.word}>Loading</span>
    </p>
  )
}
