import type { ReactNode } from 'react'
import styles from './status-mark.module.css'

export type MarkShape = 'dot' | 'ring' | 'away' | 'diamond' | 'neutral'

/** A status as a shape and a word, so that it never depends on colour alone. */
export function StatusMark({ shape, word, reason, beside }: StatusMarkProps) {
  return (
    <span className={styles.status}>
      <span className={styles.mark} data-shape={shape} aria-hidden="true" />
      <span className={styles.text}>
        <span className={styles.word}>
          {word}
          {beside && <span className={styles.beside}>{beside}</span>}
        </span>
        {reason !== undefined && reason !== '' && (
          <span className={styles.reason} title={reason}>
            {reason}
          </span>
        )}
      </span>
    </span>
  )
}

type StatusMarkProps = { shape: MarkShape; word: string; reason?: string; beside?: ReactNode }
