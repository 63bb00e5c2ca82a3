import styles from './recognition.module.css'

/** Covers the landing page while visit.ts checks whether the visitor is signed in and belongs on the dashboard. */
export function Recognition() {
  return (
    <output className={styles.recognition}>
      <span className={styles.spinner} />
      <span className={styles.word}>Loading</span>
    </output>
  )
}
