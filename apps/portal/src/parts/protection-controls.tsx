import { Button } from '@mantine/core'
import { lazy, Suspense, useId, useState } from 'react'
import { OFFLINE_REASON, type Order } from './offered.ts'
import { useOffered, useToldOrder, type Ordered } from './orders.ts'
import styles from './protection.module.css'

const DIALOGS = {
  disarm: lazy(() => import('./disarm-dialog.tsx')),
  snooze: lazy(() => import('./snooze-dialog.tsx')),
}

/** Stop, Pause 1 h, Disarm, Snooze and Arm as buttons, beside the state that they change. */
export function ProtectionControls({ gateway, size = 'sm' }: { gateway: Ordered; size?: 'xs' | 'sm' }) {
  const [asking, setAsking] = useState<keyof typeof DIALOGS>()
  const { give, isPending } = useToldOrder(gateway)
  const offered = useOffered(gateway)
  const reason = useId()
  const act = (key: string, order: Order | undefined) => {
    if (order === undefined) setAsking(key === 'snooze' ? 'snooze' : 'disarm')
    else if (order.action !== 'fire') void give(order)
  }
  const Asking = asking && DIALOGS[asking]
  return (
    <div className={styles.controls}>
      {offered.map(({ key, words, order, disabled }) => (
        <Button
          key={key}
          size={size}
          {...(key === 'stop' ? { color: 'red' } : { variant: 'default', disabled: disabled || isPending })}
          {...(disabled && { 'aria-describedby': reason })}
          aria-label={`${words.replace('…', '')} ${gateway.name}`}
          onClick={() => act(key, order)}
        >
          {words}
        </Button>
      ))}
      {offered.some(({ disabled }) => disabled) && (
        <small id={reason} className={styles.reason}>
          {OFFLINE_REASON}
        </small>
      )}
      <Suspense>{Asking && <Asking gateway={gateway} onGone={() => setAsking(undefined)} />}</Suspense>
    </div>
  )
}
