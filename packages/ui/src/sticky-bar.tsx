import { useRef, type ReactNode } from 'react'
import { useHeightVariable, wholePage } from './height-variable.ts'
import styles from './sticky-bar.module.css'

type StickyBarProps = {
  text: string
  /** In a low window it stays below its part of the page instead. */
  yields?: boolean
  children: ReactNode
}

/** A bar that stays at the bottom of the window while its part of the page is in view: a text, then buttons. */
export function StickyBar({ text, yields = false, children }: StickyBarProps) {
  const bar = useRef<HTMLDivElement>(null)
  useHeightVariable(bar, '--sticky-bar-height', wholePage)
  return (
    <div ref={bar} className={styles.bar} data-yields={yields}>
      <output>{text}</output>
      {children}
    </div>
  )
}
