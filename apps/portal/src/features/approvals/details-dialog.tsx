import { PUBLIC_KEY_DISPLAY_LENGTH, type PendingRegistration } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { Fingerprints } from './fingerprints.tsx'
import { fitting, held, NO_ROOM } from './messages.ts'
import { useRoom } from './use-room.ts'

export type RegistrationDialogProps = {
  registration: PendingRegistration
  opened: boolean
  onClose: () => void
  onGone: () => void
}

/** Everything that the hub knows about a device that asks to join. */
export function DetailsDialog({
  registration,
  opened,
  onClose,
  onGone,
  onDecide,
}: RegistrationDialogProps & { onDecide: (verb: 'approve' | 'reject') => void }) {
  const fits = fitting([registration], useRoom()).length > 0
  return (
    <Dialog
      title={`Registration of ${registration.deviceName}`}
      size="lg"
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {registration.keyChangeFor !== null && (
        <Notice tone="warning">
          This device asks to replace the key of “{registration.keyChangeFor}”. Approve only if you know that it was
          reset or moved.
        </Notice>
      )}
      {registration.waitsFor !== null && <Notice tone="warning">{held(registration.waitsFor)}</Notice>}
      {registration.waitsFor === null && !fits && <Notice tone="warning">{NO_ROOM}</Notice>}
      {registration.invitation !== null && (
        <Notice tone="plain">The device sent the code of the invitation “{registration.invitation}”.</Notice>
      )}
      {registration.trustedNetwork && registration.waitsFor === null && (
        <Notice tone="plain">
          The request comes from a trusted network of the auto-approval settings. It waits because they require a
          person’s approval.
        </Notice>
      )}
      <DetailList
        details={[
          ['Device Name', registration.deviceName],
          ['Location', registration.deviceLocation === '' ? 'Not specified' : registration.deviceLocation],
          ['Version', registration.deviceVersion === '' ? 'Not specified' : registration.deviceVersion],
          [
            'MAC Address',
            <Mono key="mac">{registration.macAddress === '' ? 'Not specified' : registration.macAddress}</Mono>,
          ],
          ['Source IP', <Mono key="ip">{registration.sourceIp}</Mono>],
          [
            'WireGuard Public Key',
            <Mono key="key">{registration.wireguardPublicKey.slice(0, PUBLIC_KEY_DISPLAY_LENGTH)}</Mono>,
          ],
          ['Registration ID', <Mono key="id">{registration.registrationId}</Mono>],
          ['Requested At', new Date(registration.requestedAt).toLocaleString()],
          ['Status', <StatusMark key="status" shape="diamond" word={registration.status} />],
        ]}
      />
      <Fingerprints registration={registration} />
      <DialogActions>
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button disabled={!fits} onClick={() => onDecide('approve')}>
          Approve
        </Button>
        <Button variant="default" onClick={() => onDecide('reject')}>
          Reject
        </Button>
      </DialogActions>
    </Dialog>
  )
}
