import { useRef, type ReactNode } from 'react'
import { useHeightVariable } from './height-variable.ts'
import { HedgeMark } from './wordmark.tsx'
import styles from './top-bar.module.css'

type TopBarProps = {
  title: string
  /** Whose pages these are, beside the title. */
  name?: string
  /** Beside the name. */
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
        <span>{title}</span>
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

const wholePage = () => document.documentElement

/** How many things wait on a screen, beside its link. */
export function Badge({ count, what }: { count: number; what: string }) {
  return (
    <span className={styles.badge}>
      {count}
      <span className="visually-hidden"> {what}</span>
    </span>
  )
}
