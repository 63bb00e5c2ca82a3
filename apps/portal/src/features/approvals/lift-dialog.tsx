import type { RejectedRegistration } from '@hedgerow/contract'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import type { DialogLife } from '@hedgerow/ui/dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useLift } from './queries.ts'

/** Withdraws a rejection. The device may ask again, and then waits for a decision. */
export function LiftDialog({ rejected, ...life }: DialogLife & { rejected: RejectedRegistration }) {
  const lift = useLift()
  const confirm = async () => {
    const { deviceName } = await lift.mutateAsync(rejected.registrationId)
    void toast(`Gateway "${deviceName}" may ask again.`)
  }
  return (
    <ConfirmDialog
      {...life}
      title={`Let ${rejected.deviceName} ask again?`}
      button="Let it ask again"
      onConfirm={confirm}
    >
      <p>This withdraws the rejection. The device’s next request waits for a decision like any other.</p>
    </ConfirmDialog>
  )
}
