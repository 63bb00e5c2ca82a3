import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Outcome } from './one-by-one.ts'
import styles from './outcome-list.module.css'

type OutcomeListProps = {
  items: readonly { key: string; name: string; mark?: ReactNode; detail: ReactNode }[]
  outcomes: ReadonlyMap<string, Outcome>
}

/** The items of a bulk action, each with its detail before and its outcome after. */
export function OutcomeList({ items, outcomes }: OutcomeListProps) {
  return (
    <ul className={styles.outcomes} aria-live="polite">
      {items.map(({ key, name, mark, detail }) => {
        const outcome = outcomes.get(key)
        return (
          <li key={key} data-outcome={outcome === undefined ? undefined : outcome.done ? 'done' : 'failed'}>
            <strong>{outcome?.path === undefined ? name : <Link to={outcome.path}>{name}</Link>}</strong>
            {mark !== undefined && <span>{mark}</span>}
            <span>{outcome?.message ?? detail}</span>
          </li>
        )
      })}
    </ul>
  )
}
