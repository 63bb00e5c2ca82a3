import { Fragment, type ReactNode } from 'react'
import styles from './detail-list.module.css'

/** Names and values, one below the other. */
export function DetailList({ details }: { details: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.list}>
      {details.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
