import { rejectRegistration } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import type { ReactNode } from 'react'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { submitTo } from '#parts/submit-to.ts'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { rejectFailed } from './messages.ts'

type RejectFormProps = {
  /** The name of the reason's draft. */
  draft: string
  button: string
  rejection: { error: Error | null; isPending: boolean }
  onReject: (reason: string) => Promise<void>
  onClose: () => void
  /** The consequences of the rejection. */
  children: ReactNode
}

/** The reason of a rejection; the hub stores it and sends it to the devices. */
export function RejectForm({ draft, button, rejection, onReject, onClose, children }: RejectFormProps) {
  const form = useForm({
    initialValues: { reason: '' },
    validate: schemaResolver(rejectRegistration.body, { sync: true }),
  })
  useDraft(draft, form.isDirty() ? form.values : undefined, form.setValues)
  return (
    <form onSubmit={submitTo(form, ({ reason }) => onReject(reason))} noValidate>
      {children}
      {rejection.error !== null && <Notice tone="danger">{rejectFailed(messageOf(rejection.error))}</Notice>}
      <TextInput
        label="Rejection reason"
        withAsterisk
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('reason')}
      />
      <DialogActions onCancel={onClose}>
        <Button type="submit" color="red" loading={rejection.isPending}>
          {button}
        </Button>
      </DialogActions>
    </form>
  )
}
