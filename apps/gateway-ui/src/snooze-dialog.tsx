import type { Snooze, SnoozeLasts } from '@hedgerow/contract'
import { protectionLine } from '@hedgerow/contract/protection'
import { Button } from '@mantine/core'
import { Dialog, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { SnoozeForm, type Snoozed } from '@hedgerow/ui/snooze-form.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { messageOf } from './calls.ts'
import { useOrder, useStatus, type Order } from './queries.ts'
import { useVisitor } from './session.ts'
import styles from './snooze-dialog.module.css'

const WHOLE = ''
const CAMERA = 'camera '

/** What is snoozed, each with its end; and what to snooze, for how long. */
export default function SnoozeDialog({ onGone }: { onGone: () => void }) {
  const life = useDialogLife(onGone)
  const { mayManage } = useVisitor()
  const { cameras = [], snoozes = [] } = useStatus().data ?? {}
  const { mutate, isPending } = useOrder()
  const order = (order: Order, done: string) =>
    mutate(order, {
      onSuccess: () => void toast(done),
      onError: (error) => void toast(`Failed: ${messageOf(error)}`),
    })
  const snooze = ({ what, isMaintenance, time }: Snoozed) => {
    const about = what.startsWith(CAMERA) ? { camera: what.slice(CAMERA.length) } : {}
    const kind = isMaintenance ? 'maintenance' : 'snooze'
    order({ action: 'snooze', kind, ...about, lasts: lastsOf(time) }, 'Snoozed.')
    life.onClose()
  }
  return (
    <Dialog {...life} title="Snooze" size="sm">
      {snoozes.length > 0 && (
        <ul className={styles.now} aria-label="Snoozed now">
          {snoozes.map(({ kind, camera, ...one }) => (
            <li key={`${kind} ${camera}`}>
              <span>{lineOf({ kind, camera, ...one })}</span>
              {(kind === 'snooze' || mayManage) && (
                <Button
                  size="xs"
                  variant="default"
                  disabled={isPending}
                  aria-label={`End now: ${kind}${camera === null ? '' : ` of ${camera}`}`}
                  onClick={() =>
                    order(
                      { action: 'end-snooze', kind, ...(camera !== null && { camera }) },
                      'Alerts and deterrents work again.',
                    )
                  }
                >
                  End now
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <SnoozeForm
        first={WHOLE}
        whats={[
          { value: WHOLE, label: 'Everything', mayMaintain: mayManage },
          ...cameras.map(({ name }) => ({ value: CAMERA + name, label: `Camera ${name}`, mayMaintain: false })),
        ]}
        onSnooze={snooze}
      />
    </Dialog>
  )
}

function lastsOf(time: Snoozed['time']): SnoozeLasts {
  return 'lasts' in time ? time.lasts : Math.round((Date.parse(time.until) - Date.now()) / 1_000)
}

function lineOf({ kind, camera, by, until }: Snooze): string {
  const state = kind === 'snooze' ? 'snoozed' : kind
  const reason = `${camera === null ? '' : `camera ${camera} `}by ${by}`
  return protectionLine({ state, reason, until: new Date(until).toISOString() }, Date.now())
}
