import { rejectRegistration, type PendingRegistration } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useOneByOne } from '#parts/one-by-one.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Mono } from '@hedgerow/ui/mono.tsx'
import {
  approvedMessage,
  approveFailed,
  askToDecide,
  rejectedMessage,
  rejectFailed,
  REJECTION_FOLLOWS,
} from './messages.ts'
import { useApprove, useReject } from './queries.ts'

type BulkDialogProps = {
  decision: 'approve' | 'reject'
  registrations: readonly PendingRegistration[]
  opened: boolean
  onClose: () => void
  onGone: () => void
}

/** One decision for several devices, made one after the other. Each shows its outcome. */
export function BulkDialog({ decision, registrations, opened, onClose, onGone }: BulkDialogProps) {
  const approve = useApprove()
  const reject = useReject()
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  useDraft('registrations.reject-several', reason === '' ? undefined : reason, setReason)
  const approving = decision === 'approve'
  const decide = async (registrationId: string) =>
    approving
      ? approvedMessage(await approve.mutateAsync(registrationId))
      : rejectedMessage((await reject.mutateAsync({ registrationId, reason })).deviceName)
  const { outcomes, working, finished, start } = useOneByOne(
    registrations.map(({ registrationId }) => registrationId),
    decide,
    (error) => (approving ? approveFailed : rejectFailed)(messageOf(error)),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const wrong = approving ? undefined : rejectRegistration.body.safeParse({ reason }).error?.issues[0]?.message
    setProblem(wrong)
    if (wrong === undefined) await start()
    else focusFirstError(event.currentTarget)
  }

  return (
    <Dialog
      title={askToDecide(decision, registrations.length)}
      size="lg"
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      <form onSubmit={(event) => void submit(event)} noValidate>
        <p>
          {approving
            ? 'Each device joins the VPN at once with its own address. First compare every fingerprint with its device.'
            : REJECTION_FOLLOWS}
        </p>
        {!approving && (
          <TextInput
            label="Rejection reason"
            withAsterisk
            autoComplete="off"
            data-autofocus
            disabled={finished}
            error={problem}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <OutcomeList
          outcomes={outcomes}
          items={registrations.map(({ registrationId, deviceName, fingerprint, sourceIp, keyChangeFor }) => ({
            key: registrationId,
            name: deviceName,
            ...(keyChangeFor !== null && { mark: <Chip tone="warning">Key change for {keyChangeFor}</Chip> }),
            detail: <Mono>{`${sourceIp}  ${fingerprint}`}</Mono>,
          }))}
        />
        <DialogActions>
          <Button variant="default" onClick={onClose}>
            {finished ? 'Close' : 'Cancel'}
          </Button>
          {!finished && (
            <Button type="submit" loading={working} {...(approving ? {} : { color: 'red' })}>
              {`${approving ? 'Approve' : 'Reject'} ${registrations.length}`}
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  )
}
