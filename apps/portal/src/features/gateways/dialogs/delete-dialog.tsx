import type { Gateway } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { useState, type FormEvent } from 'react'
import { messageOf } from '#api/client.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { DELETION_FOLLOWS, deletedMessage, deleteFailed } from '../messages.ts'
import { useDeleteGateway } from '../queries.ts'

type DeleteDialogProps = DialogLife & { gateway: Gateway; onDeleted: () => void }

/** Deletes a gateway after its name is typed, so that a wrong click cannot. */
export function DeleteDialog({ gateway, opened, onClose, onGone, onDeleted }: DeleteDialogProps) {
  const remove = useDeleteGateway()
  const [typed, setTyped] = useState('')
  const matches = typed.trim() === gateway.name
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!matches) return
    const done = await remove.mutateAsync({ id: gateway.id, name: typed.trim() }).then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(deletedMessage(gateway.name))
    onClose()
    onDeleted()
  }
  return (
    <Dialog title={`Delete ${gateway.name}?`} opened={opened} onClose={onClose} onGone={onGone}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <p>{DELETION_FOLLOWS}</p>
        {remove.isError && <Notice tone="danger">{deleteFailed(messageOf(remove.error))}</Notice>}
        <TextInput
          label={`Type “${gateway.name}” to confirm`}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          data-autofocus
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <DialogActions onCancel={onClose}>
          <Button type="submit" color="red" loading={remove.isPending} disabled={!matches}>
            Delete Gateway
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
