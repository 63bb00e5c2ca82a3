import styles from './status-mark.module.css'

export type MarkShape = 'dot' | 'ring' | 'diamond' | 'neutral'

/** A status as a shape and a word, so that it never depends on colour alone. */
export function StatusMark({ shape, word, reason }: { shape: MarkShape; word: string; reason?: string }) {
  return (
    <span className={styles.status}>
      <span className={styles.mark} data-shape={shape} aria-hidden="true" />
      <span className={styles.text}>
        <span className={styles.word}>{word}</span>
        {reason !== undefined && reason !== '' && (
          <span className={styles.reason} title={reason}>
            {reason}
          </span>
        )}
      </span>
    </span>
  )
}
