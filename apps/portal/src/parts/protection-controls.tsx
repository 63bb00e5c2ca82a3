import { Button } from '@mantine/core'
import { lazy, Suspense, useId, useState } from 'react'
import { OFFLINE_REASON, type Order } from './offered.ts'
import { useOffered, useToldOrder, type Ordered } from './orders.ts'
import styles from './protection.module.css'

const DisarmDialog = lazy(() => import('./disarm-dialog.tsx'))

/** Stop, Pause 1 h, Disarm and Arm as buttons, beside the state that they change. */
export function ProtectionControls({ gateway, size = 'sm' }: { gateway: Ordered; size?: 'xs' | 'sm' }) {
  const [isAsking, setAsking] = useState(false)
  const { give, isPending } = useToldOrder(gateway)
  const offered = useOffered(gateway)
  const reason = useId()
  const act = (order: Order | undefined) => {
    if (order === undefined) setAsking(true)
    else if (order.action !== 'fire') void give(order)
  }
  return (
    <div className={styles.controls}>
      {offered.map(({ key, words, order, disabled }) => (
        <Button
          key={key}
          size={size}
          {...(key === 'stop' ? { color: 'red' } : { variant: 'default', disabled: disabled || isPending })}
          {...(disabled && { 'aria-describedby': reason })}
          aria-label={`${words.replace('…', '')} ${gateway.name}`}
          onClick={() => act(order)}
        >
          {words}
        </Button>
      ))}
      {offered.some(({ disabled }) => disabled) && (
        <small id={reason} className={styles.reason}>
          {OFFLINE_REASON}
        </small>
      )}
      <Suspense>{isAsking && <DisarmDialog gateway={gateway} onGone={() => setAsking(false)} />}</Suspense>
    </div>
  )
}
