import type { ReactNode } from 'react'
import styles from './chip.module.css'

type Tone = 'danger' | 'warning' | 'good' | 'neutral' | 'signal'

/** A small word that classifies an entry. */
export function Chip({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone}>
      {children}
    </span>
  )
}
