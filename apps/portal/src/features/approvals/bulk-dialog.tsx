import { rejectRegistration, type PendingRegistration } from '@hedgerow/contract'
import { TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { BulkActions } from '#parts/bulk-actions.tsx'
import { useOneByOne } from '#parts/one-by-one.ts'
import { OutcomeList } from '#parts/outcome-list.tsx'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Dialog } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import {
  approvedMessage,
  approveFailed,
  askToDecide,
  fitting,
  numberOfDevices,
  onlySomeFit,
  rejectedMessage,
  rejectFailed,
  REJECTION_FOLLOWS,
} from './messages.ts'
import { ApprovedSite } from './approved-site.tsx'
import { useApprove, useReject } from './queries.ts'
import { useRoom } from './use-room.ts'

type BulkDialogProps = {
  decision: 'approve' | 'reject'
  registrations: readonly PendingRegistration[]
  opened: boolean
  onClose: () => void
  onGone: () => void
}

/** One decision for several devices, made one after the other. Each shows its outcome. */
export function BulkDialog({ decision, registrations: selected, opened, onClose, onGone }: BulkDialogProps) {
  const approve = useApprove()
  const reject = useReject()
  const [reason, setReason] = useState('')
  const [siteId, setSiteId] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  useDraft('registrations.reject-several', reason === '' ? undefined : reason, setReason)
  const approving = decision === 'approve'
  const room = useRoom()
  // Each approval takes room, so what fits is decided once.
  const [registrations] = useState(() => (approving ? fitting(selected, room) : selected))
  const decide = async (registrationId: string) => {
    if (!approving)
      return { message: rejectedMessage((await reject.mutateAsync({ registrationId, reason })).deviceName) }
    const approved = await approve.mutateAsync({ registrationId, siteId })
    return { message: approvedMessage(approved), path: `/gateways/${approved.gatewayId}` }
  }
  const work = useOneByOne(
    registrations.map(({ registrationId }) => registrationId),
    decide,
    (error) => (approving ? approveFailed : rejectFailed)(messageOf(error)),
  )
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const wrong = approving ? undefined : rejectRegistration.body.safeParse({ reason }).error?.issues[0]?.message
    setProblem(wrong)
    if (wrong === undefined) await work.start()
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
      {registrations.length < selected.length && (
        <Notice tone="warning">{onlySomeFit(registrations.length, selected.length)}</Notice>
      )}
      <form onSubmit={(event) => void submit(event)} noValidate>
        <p>
          {approving
            ? 'Each device joins the VPN at once with its own address. First compare every fingerprint with its device.'
            : REJECTION_FOLLOWS}
        </p>
        {approving && <ApprovedSite value={siteId} onChange={setSiteId} disabled={work.working || work.finished} />}
        {!approving && (
          <TextInput
            label="Rejection reason"
            withAsterisk
            autoComplete="off"
            data-autofocus
            disabled={work.finished}
            readOnly={work.working}
            error={problem}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        )}
        <OutcomeList
          outcomes={work.outcomes}
          words={numberOfDevices(registrations.length)}
          items={registrations.map(({ registrationId, deviceName, fingerprint, sourceIp, keyChangeFor }) => ({
            key: registrationId,
            name: deviceName,
            ...(keyChangeFor !== null && { mark: <Chip tone="warning">Key change for {keyChangeFor}</Chip> }),
            detail: <Mono>{`${sourceIp}  ${fingerprint}`}</Mono>,
          }))}
        />
        <BulkActions
          work={work}
          count={registrations.length}
          verb={approving ? 'Approve' : 'Reject'}
          {...(!approving && { color: 'red' })}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
