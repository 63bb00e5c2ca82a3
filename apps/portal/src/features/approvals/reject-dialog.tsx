import { rejectRegistration } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import type { RegistrationDialogProps } from './details-dialog.tsx'
import { keyStays, rejectedMessage, rejectFailed, REJECTION_FOLLOWS } from './messages.ts'
import { useReject } from './queries.ts'

/** Rejects a device; the hub stores the reason and sends it to the device. */
export function RejectDialog({ registration, opened, onClose, onGone }: RegistrationDialogProps) {
  const reject = useReject()
  const form = useForm({
    initialValues: { reason: '' },
    validate: schemaResolver(rejectRegistration.body, { sync: true }),
  })
  useDraft(
    `registrations.reject.${registration.registrationId}`,
    form.isDirty() ? form.values : undefined,
    form.setValues,
  )
  const submit = form.onSubmit(
    async ({ reason }) => {
      try {
        const { deviceName } = await reject.mutateAsync({ registrationId: registration.registrationId, reason })
        void toast(rejectedMessage(deviceName))
        onClose()
      } catch (error) {
        if (error instanceof ApiError) form.setErrors(error.fieldErrors)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
  return (
    <Dialog title={`Reject ${registration.deviceName}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        <p>{REJECTION_FOLLOWS}</p>
        {registration.keyChangeFor !== null && <p>{keyStays(registration.keyChangeFor)}</p>}
        {reject.isError && <Notice tone="danger">{rejectFailed(messageOf(reject.error))}</Notice>}
        <TextInput
          label="Rejection reason"
          withAsterisk
          autoComplete="off"
          data-autofocus
          {...form.getInputProps('reason')}
        />
        <DialogActions>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={reject.isPending}>
            Reject
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
