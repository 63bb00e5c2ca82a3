import { useRef, type ReactNode } from 'react'
import { useHeightVariable, wholePage } from './height-variable.ts'
import styles from './sticky-bar.module.css'

/** A bar that stays at the bottom of the window while its part of the page is in view: a text, then buttons. */
export function StickyBar({ text, children }: { text: string; children: ReactNode }) {
  const bar = useRef<HTMLDivElement>(null)
  useHeightVariable(bar, '--sticky-bar-height', wholePage)
  return (
    <div ref={bar} className={styles.bar}>
      <output>{text}</output>
      {children}
    </div>
  )
}
