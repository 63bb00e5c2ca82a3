import type { ReactNode } from 'react'
import styles from './chip.module.css'

/** A small word that sorts an entry. */
export function Chip({ tone, children }: { tone: 'danger' | 'warning' | 'neutral' | 'signal'; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone}>
      {children}
    </span>
  )
}
