import type { GatewayDetail } from '@hedgerow/contract'
import { CheckIcon, CrossIcon } from '@hedgerow/ui/icons.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import styles from './gateway-page.module.css'

const STEPS = {
  registered: 'Registered',
  approved: 'Approved',
  handshake: 'VPN handshake',
  heartbeat: 'Heartbeat',
} as const
const STATES = { done: 'done', waiting: 'waiting', failed: 'failed' } as const

/** The steps in order: the first missing one shows where to look. */
export function Conditions({ conditions }: { conditions: GatewayDetail['ladder'] }) {
  return (
    <ol className={styles.conditions}>
      {conditions.map(({ step, state, at, message }) => (
        <li key={step} className={styles.condition}>
          <span className={styles.knot} data-state={state}>
            {state === 'done' ? <CheckIcon /> : state === 'failed' ? <CrossIcon /> : null}
            <span className="visually-hidden">{STATES[state]}</span>
          </span>
          <strong>{STEPS[step]}</strong>
          {at === null ? <span /> : <RelativeTime at={at} />}
          {message !== '' && <p>{message}</p>}
        </li>
      ))}
    </ol>
  )
}
