import { Button } from '@mantine/core'
import { useState } from 'react'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { useToldOrder, type Ordered } from './orders.ts'
import styles from './protection.module.css'

const TIMES = [
  ['30m', '30 minutes'],
  ['1h', '1 hour'],
  ['morning', 'Until morning (7:00 at the gateway)'],
] as const

/** Asks for how long nothing may fire. Without an end it asks again, because people forget to arm. */
export default function DisarmDialog({ gateway, onGone }: { gateway: Ordered; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const { give } = useToldOrder(gateway)
  const [isForEver, setForEver] = useState(false)
  const disarm = (lasts?: (typeof TIMES)[number][0]) => {
    void give({ action: 'disarm', lasts })
    life.onClose()
  }
  return (
    <Dialog {...life} title={`Disarm ${gateway.name}`} size="sm">
      {isForEver ? (
        <>
          <Notice tone="warning">
            Nothing fires until somebody arms it. If it is still disarmed tomorrow, a reminder comes each day.
          </Notice>
          <DialogActions>
            <Button variant="default" onClick={() => setForEver(false)}>
              Back
            </Button>
            <Button color="red" onClick={() => disarm()}>
              Disarm until I arm
            </Button>
          </DialogActions>
        </>
      ) : (
        <>
          <p>Everything goes off at once and nothing fires. It arms itself again when the time is over.</p>
          <div className={styles.times}>
            {TIMES.map(([lasts, words]) => (
              <Button key={lasts} variant="default" onClick={() => disarm(lasts)}>
                {words}
              </Button>
            ))}
            <Button variant="default" onClick={() => setForEver(true)}>
              Until I arm…
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
