import { useRef, type ReactNode } from 'react'
import { useHeightVariable, wholePage } from './height-variable.ts'
import { HedgeMark } from './wordmark.tsx'
import styles from './top-bar.module.css'

type TopBarProps = {
  title: string
  /** The owner of these pages, shown beside the title. */
  name?: string
  /** Shown beside the name. */
  state?: ReactNode
  /** Links to the screens; the router marks the current one. */
  children: ReactNode
  tools: ReactNode
}

/** The bar above every screen. */
export function TopBar({ title, name = '', state, children, tools }: TopBarProps) {
  const bar = useRef<HTMLElement>(null)
  useHeightVariable(bar, '--bar-height', wholePage)
  return (
    <header ref={bar} className={styles.bar}>
      <div className={styles.title}>
        <HedgeMark />
        <span className={styles.word}>{title}</span>
        {name !== '' && (
          <span className={styles.name} title={name}>
            {name}
          </span>
        )}
        {state}
      </div>
      <nav className={styles.nav} aria-label="Main">
        {children}
      </nav>
      <div className={styles.tools}>{tools}</div>
    </header>
  )
}

/** The number of things that wait on a screen, shown beside its link. */
export function Badge({ count, what }: { count: number; what: string }) {
  return (
    <span className={styles.badge}>
      {count}
      <span className="visually-hidden"> {what}</span>
    </span>
  )
}
