import type { ReactNode } from 'react'
import styles from './page-head.module.css'

/** A screen's title, in the page and in the tab, with its actions. */
export function PageHead({
  title,
  tab = title,
  place = 'Hub',
  lead,
  actions,
}: {
  title: string
  tab?: string
  /** The owner of the page, for the tab's title. */
  place?: string
  lead?: ReactNode
  actions?: ReactNode
}) {
  return (
    <div className={styles.head}>
      <title>{`${tab} · ${place}`}</title>
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p className={styles.lead}>{lead}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
