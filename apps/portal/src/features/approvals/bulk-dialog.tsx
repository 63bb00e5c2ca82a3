import { rejectRegistration, type PendingRegistration } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { approvedMessage, approveFailed, rejectedMessage, rejectFailed, REJECTION_FOLLOWS } from './messages.ts'
import { useApprove, useReject } from './queries.ts'
import styles from './page.module.css'

type Outcome = { done: boolean; message: string }

type BulkDialogProps = {
  decision: 'approve' | 'reject'
  registrations: readonly PendingRegistration[]
  opened: boolean
  onClose: () => void
  onGone: () => void
}

/**
 * One decision for several devices, made one after the other. Each shows its outcome, and a refusal does not stop the
 * others.
 */
export function BulkDialog({ decision, registrations, opened, onClose, onGone }: BulkDialogProps) {
  const approve = useApprove()
  const reject = useReject()
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string | undefined>()
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [working, setWorking] = useState(false)
  useDraft('registrations.reject-several', reason === '' ? undefined : reason, setReason)
  const approving = decision === 'approve'
  const finished = outcomes.size === registrations.length

  const decide = async (registrationId: string): Promise<Outcome> => {
    try {
      if (approving) return { done: true, message: approvedMessage(await approve.mutateAsync(registrationId)) }
      const { deviceName } = await reject.mutateAsync({ registrationId, reason })
      return { done: true, message: rejectedMessage(deviceName) }
    } catch (error) {
      // Many decisions can reach the limit of calls per person. Then they continue as fast as it allows.
      const waitMs = error instanceof ApiError && error.code === 'too_many_requests' ? error.retryAfterMs : undefined
      if (waitMs !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, waitMs))
        return decide(registrationId)
      }
      return { done: false, message: (approving ? approveFailed : rejectFailed)(messageOf(error)) }
    }
  }
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const wrong = approving ? undefined : rejectRegistration.body.safeParse({ reason }).error?.issues[0]?.message
    setProblem(wrong)
    if (wrong !== undefined) {
      focusFirstError(event.currentTarget)
      return
    }
    setWorking(true)
    for (const { registrationId } of registrations) {
      const outcome = await decide(registrationId)
      setOutcomes((known) => new Map(known).set(registrationId, outcome))
    }
    setWorking(false)
  }

  return (
    <Dialog
      title={`${approving ? 'Approve' : 'Reject'} ${registrations.length} devices?`}
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
        <ul className={styles.outcomes} aria-live="polite">
          {registrations.map(({ registrationId, deviceName, fingerprint, sourceIp, keyChangeFor }) => {
            const outcome = outcomes.get(registrationId)
            return (
              <li
                key={registrationId}
                data-outcome={outcome === undefined ? undefined : outcome.done ? 'done' : 'failed'}
              >
                <strong>{deviceName}</strong>
                {keyChangeFor !== null && (
                  <span>
                    <Chip tone="warning">Key change for {keyChangeFor}</Chip>
                  </span>
                )}
                <span>{outcome?.message ?? <Mono>{`${sourceIp}  ${fingerprint}`}</Mono>}</span>
              </li>
            )
          })}
        </ul>
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
