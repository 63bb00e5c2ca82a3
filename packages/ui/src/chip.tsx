import type { ReactNode } from 'react'
import styles from './chip.module.css'

type Tone = 'danger' | 'warning' | 'good' | 'neutral' | 'signal'

/** A small word that classifies an entry. */
export function Chip({ tone, title, children }: { tone: Tone; title?: string; children: ReactNode }) {
  return (
    <span className={styles.chip} data-tone={tone} title={title}>
      {children}
    </span>
  )
}
