import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import type { RegistrationDialogProps } from './details-dialog.tsx'
import { Fingerprints } from './fingerprints.tsx'
import { approvedMessage, approveFailed } from './messages.ts'
import { useApprove } from './queries.ts'

/** Explains an approval before it is made. */
export function ApproveDialog({ registration, opened, onClose, onGone }: RegistrationDialogProps) {
  const approve = useApprove()
  const submit = async () => {
    const answer = await approve.mutateAsync(registration.registrationId).catch(() => undefined)
    if (answer === undefined) return
    void toast(approvedMessage(answer), { to: `/gateways/${answer.gatewayId}`, words: 'Open the gateway' })
    onClose()
  }
  return (
    <Dialog title={`Approve ${registration.deviceName}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <p>
        {registration.keyChangeFor === null
          ? 'The device joins the VPN at once with its own address, and sends heartbeats and detections. People ' +
            'with access can open its page.'
          : `The new key replaces the one of “${registration.keyChangeFor}” at once, and the device with the old ` +
            'key loses its connection.'}
      </p>
      <Fingerprints registration={registration} />
      {approve.isError && <Notice tone="danger">{approveFailed(messageOf(approve.error))}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button loading={approve.isPending} onClick={() => void submit()} data-autofocus>
          Approve
        </Button>
      </DialogActions>
    </Dialog>
  )
}
