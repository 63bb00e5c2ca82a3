import type { ReactNode } from 'react'
import { AlertIcon, CheckIcon } from './icons.tsx'
import styles from './notice.module.css'

type Tone = 'warning' | 'danger' | 'good' | 'plain'

/** Something that has to be read, in the place it is about. Trouble is announced at once, the rest politely. */
export function Notice({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div className={styles.notice} data-tone={tone} role={tone === 'danger' || tone === 'warning' ? 'alert' : 'status'}>
      {tone === 'good' ? <CheckIcon /> : <AlertIcon />}
      <div>{children}</div>
    </div>
  )
}
