import type { ReactNode } from 'react'
import styles from './chip.module.css'

export type Tone = 'danger' | 'warning' | 'good' | 'neutral' | 'signal'

type ChipProps = { tone: Tone; title?: string; isLong?: boolean; children: ReactNode }

/** A small word that classifies an entry; a long one may take several lines. */
export function Chip({ tone, title, isLong = false, children }: ChipProps) {
  return (
    <span className={styles.chip} data-tone={tone} data-long={isLong || undefined} title={title}>
      {children}
    </span>
  )
}
