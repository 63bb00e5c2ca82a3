import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { equalFailures } from './equal-failures.ts'
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
 * those with a mark, and failures, always show. Many failures for the same reason are one sentence.
 */
export function OutcomeList({ items, outcomes, words }: OutcomeListProps) {
  const equal = equalFailures(items, outcomes, SHOWN)
  const single = items.filter((item) => !equal.some(([, same]) => same.includes(item)))
  const isShown = ({ key, mark }: Item) => mark !== undefined || outcomes.get(key)?.done === false
  const shown = items.length <= SHOWN ? items : single.filter(isShown)
  const others = single.filter((item) => !shown.includes(item))
  return (
    <div className={styles.all} aria-live="polite">
      <Items items={shown} outcomes={outcomes} />
      {equal.map(([message, same]) => (
        <Fold key={message} words={`${same.length} of ${words}: ${message}`} items={same} outcomes={outcomes} />
      ))}
      {others.length > 0 && (
        <Fold
          words={others.length === items.length ? words : `${words}: the other ${others.length}`}
          items={others}
          outcomes={outcomes}
        />
      )}
    </div>
  )
}

function Fold({ words, items, outcomes }: OutcomeListProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words}</summary>
      {isOpen && <Items items={items} outcomes={outcomes} />}
    </details>
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
