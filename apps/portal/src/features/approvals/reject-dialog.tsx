import { Dialog } from '@hedgerow/ui/dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import type { RegistrationDialogProps } from './details-dialog.tsx'
import { keyStays, rejectedMessage, REJECTION_FOLLOWS } from './messages.ts'
import { useReject } from './queries.ts'
import { RejectForm } from './reject-form.tsx'

/** Rejects one device. */
export function RejectDialog({ registration, opened, onClose, onGone }: RegistrationDialogProps) {
  const { registrationId, keyChangeFor } = registration
  const reject = useReject()
  return (
    <Dialog title={`Reject ${registration.deviceName}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <RejectForm
        draft={`registrations.reject.${registrationId}`}
        button="Reject"
        rejection={reject}
        onClose={onClose}
        onReject={async (reason) => {
          const { deviceName } = await reject.mutateAsync({ registrationId, reason })
          void toast(rejectedMessage(deviceName))
          onClose()
        }}
      >
        <p>{REJECTION_FOLLOWS}</p>
        {keyChangeFor !== null && <p>{keyStays(keyChangeFor)}</p>}
      </RejectForm>
    </Dialog>
  )
}
