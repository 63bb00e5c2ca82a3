import { useState } from 'react'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import type { RegistrationDialogProps } from './details-dialog.tsx'
import { Fingerprints } from './fingerprints.tsx'
import { approvedMessage, approveFailed } from './messages.ts'
import { ApprovedSite } from './approved-site.tsx'
import { useApprove } from './queries.ts'

/** Explains an approval before it is made. */
export function ApproveDialog({ registration, ...life }: RegistrationDialogProps) {
  const approve = useApprove()
  const [siteId, setSiteId] = useState('')
  const confirm = async () => {
    const answer = await approve.mutateAsync({ registrationId: registration.registrationId, siteId })
    void toast(approvedMessage(answer), { to: `/gateways/${answer.gatewayId}`, words: 'Open the gateway' })
  }
  return (
    <ConfirmDialog
      {...life}
      title={`Approve ${registration.deviceName}?`}
      button="Approve"
      onConfirm={confirm}
      describe={approveFailed}
    >
      <p>
        {registration.keyChangeFor === null
          ? 'The device joins the VPN at once with its own address, and sends heartbeats and detections. People ' +
            'with access can open its page.'
          : `The new key replaces the one of “${registration.keyChangeFor}” at once, and the device with the old ` +
            'key loses its connection.'}
      </p>
      {registration.keyChangeFor === null && <ApprovedSite value={siteId} onChange={setSiteId} />}
      <Fingerprints registration={registration} />
    </ConfirmDialog>
  )
}
