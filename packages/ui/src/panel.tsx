import { useId, useRef, type ReactNode } from 'react'
import { useHeightVariable } from './height-variable.ts'
import styles from './panel.module.css'

type PanelProps = {
  /** For links that name it after their #. */
  id?: string
  title: string
  actions?: ReactNode
  /** The heading and the actions stay in view below the top bar, above a long list. */
  sticky?: boolean
  children: ReactNode
}

/** A bordered part of a page with its own heading and states. */
export function Panel({ id, title, actions, sticky = false, children }: PanelProps) {
  const heading = useId()
  const head = useRef<HTMLElement>(null)
  useHeightVariable(head, '--panel-head', sticky ? panelOf : nothing)
  return (
    <section id={id} className={styles.panel} aria-labelledby={heading}>
      <header ref={head} className={styles.head} data-sticky={sticky}>
        <h2 id={heading}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  )
}

const panelOf = (head: HTMLElement) => head.parentElement
const nothing = () => null
