import { rejectRegistration } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { REJECTION_FOLLOWS_FOR_ALL, rejectAllOf, rejectFailed, sourceRejectedMessage } from './messages.ts'
import { useRejectSource, type Source } from './queries.ts'

/** Rejects all waiting requests of one address or network. */
export function RejectSourceDialog({ source, opened, onClose, onGone }: DialogLife & { source: Source }) {
  const reject = useRejectSource()
  const form = useForm({
    initialValues: { reason: '' },
    validate: schemaResolver(rejectRegistration.body, { sync: true }),
  })
  useDraft(`registrations.reject-source.${source.source}`, form.isDirty() ? form.values : undefined, form.setValues)
  const submit = form.onSubmit(
    async ({ reason }) => {
      try {
        const { rejected } = await reject.mutateAsync({ source: source.source, reason })
        void toast(sourceRejectedMessage(source.source, rejected))
        onClose()
      } catch (error) {
        if (error instanceof ApiError) form.setErrors(error.fieldErrors)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
  return (
    <Dialog title={`${rejectAllOf(source)}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={submit} noValidate>
        <p>{REJECTION_FOLLOWS_FOR_ALL}</p>
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
            Reject all
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
