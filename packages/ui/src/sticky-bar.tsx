import type { ReactNode } from 'react'
import styles from './sticky-bar.module.css'

/** A bar that stays at the bottom of the window while its part of the page is in view: a text, then buttons. */
export function StickyBar({ text, children }: { text: string; children: ReactNode }) {
  return (
    <div className={styles.bar}>
      <output>{text}</output>
      {children}
    </div>
  )
}
