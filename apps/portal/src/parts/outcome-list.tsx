import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import type { Outcome } from './one-by-one.ts'
import styles from './outcome-list.module.css'

type Item = { key: string; name: string; mark?: ReactNode; detail: ReactNode }
type OutcomeListProps = {
  items: readonly Item[]
  outcomes: ReadonlyMap<string, Outcome>
  /** What they are: `245 gateways`. */
  words: string
}

/** So many are shown without a fold. */
const SHOWN = 5

/**
 * The items of a bulk action, each with its detail before and its outcome after. Many are folded behind their number;
 * those with a mark, and failures, always show.
 */
export function OutcomeList({ items, outcomes, words }: OutcomeListProps) {
  const [isOpen, setOpen] = useState(false)
  const isShown = ({ key, mark }: Item) => mark !== undefined || outcomes.get(key)?.done === false
  const shown = items.length <= SHOWN ? items : items.filter(isShown)
  return (
    <div className={styles.all} aria-live="polite">
      <Items items={shown} outcomes={outcomes} />
      {shown.length < items.length && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{shown.length === 0 ? words : `${words}: the other ${items.length - shown.length}`}</summary>
          {isOpen && <Items items={items.filter((item) => !shown.includes(item))} outcomes={outcomes} />}
        </details>
      )}
    </div>
  )
}

function Items({ items, outcomes }: Pick<OutcomeListProps, 'items' | 'outcomes'>) {
  return (
    <ul className={styles.outcomes}>
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
