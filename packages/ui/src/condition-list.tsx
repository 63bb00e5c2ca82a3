import { CheckIcon, CrossIcon } from './icons.tsx'
import { RelativeTime } from './relative-time.tsx'
import styles from './condition-list.module.css'

export type ShownCondition = {
  key: string
  label: string
  state: 'done' | 'waiting' | 'failed'
  at: string | null
  message: string
}

/** Steps in order: the first missing one shows where to look. */
export function ConditionList({ conditions }: { conditions: readonly ShownCondition[] }) {
  return (
    <ol className={styles.conditions}>
      {conditions.map(({ key, label, state, at, message }) => (
        <li key={key} className={styles.condition}>
          <span className={styles.knot} data-state={state}>
            {state === 'done' ? <CheckIcon /> : state === 'failed' ? <CrossIcon /> : null}
            <span className="visually-hidden">{state}</span>
          </span>
          <strong>{label}</strong>
          {at === null ? <span /> : <RelativeTime at={at} />}
          {message !== '' && <p>{message}</p>}
        </li>
      ))}
    </ol>
  )
}
