import type { ReactNode } from 'react'
import { AlertIcon, CheckIcon, InfoIcon } from './icons.tsx'
import styles from './notice.module.css'

type Tone = 'warning' | 'danger' | 'good' | 'plain'

const ICONS = { warning: <AlertIcon />, danger: <AlertIcon />, good: <CheckIcon />, plain: <InfoIcon /> }

/** A notice beside its subject. Screen readers announce an error at once, others politely. */
export function Notice({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div
      className={styles.notice}
      data-tone={tone}
      role={tone === 'danger' || tone === 'warning' ? 'alert' : 'status'}
      // A form that is refused moves focus here.
      tabIndex={tone === 'danger' ? -1 : undefined}
    >
      {ICONS[tone]}
      <div>{children}</div>
    </div>
  )
}
