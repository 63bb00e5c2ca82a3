import type { ReactNode } from 'react'
import styles from './section.module.css'

/**
 * One part of a page with its own heading; `tone` night is the dark background of the hero. `aside` is below the lead.
 */
export function Section({
  id,
  title,
  lead,
  tone = 'day',
  aside,
  children,
}: {
  id: string
  title: string
  lead?: ReactNode
  tone?: 'day' | 'raised' | 'night'
  aside?: ReactNode
  children: ReactNode
}) {
  return (
    <section className={styles.section} data-tone={tone} aria-labelledby={id}>
      <div className={aside === undefined ? styles.inner : styles.split}>
        <div className={styles.head}>
          <h2 id={id}>{title}</h2>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
          {aside}
        </div>
        {aside === undefined ? children : <div>{children}</div>}
      </div>
    </section>
  )
}

/** A figure that the product is designed for and that nobody has measured on this hub, marked as such. */
export function DesignFigure({ value, children }: { value: string; children: ReactNode }) {
  return (
    <div className={styles.figure}>
      <p>
        <strong>{value}</strong> {children}
      </p>
      <DesignMark>design figure</DesignMark>
    </div>
  )
}

/** The amber diamond: marks what is designed and not in the software yet, or not measured at a real site. */
export function DesignMark({ children }: { children: ReactNode }) {
  return (
    <span className={styles.mark} data-designed="">
      <span>{children}</span>
    </span>
  )
}
