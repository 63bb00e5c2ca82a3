import { newGateway, type Gateway } from '@hedgerow/contract'
import { Button, Textarea, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { useState } from 'react'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { useAddGateway } from '../queries.ts'
import { VpnConfig } from './vpn-config.tsx'

/** Makes a gateway for a device with plain WireGuard, then shows what to put on it. */
export function AddDialog({ opened, onClose, onGone }: DialogLife) {
  const add = useAddGateway()
  const [added, setAdded] = useState<Gateway | null>(null)
  const form = useForm({
    initialValues: { name: '', location: '', description: '' },
    validate: schemaResolver(newGateway, { sync: true }),
  })
  useDraft('gateways.add', form.isDirty() ? form.values : undefined, form.setValues)
  const submit = form.onSubmit(
    async (values) => {
      try {
        setAdded(await add.mutateAsync(values))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        form.setErrors(error.code === 'gateway_name_taken' ? { name: error.message } : error.fieldErrors)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )

  return (
    <Dialog
      title={added === null ? 'Add Gateway' : `Set up ${added.name}`}
      size={added === null ? 'md' : 'xl'}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {added === null ? (
        <form onSubmit={submit} noValidate>
          <p>
            For a device that runs plain WireGuard. A device with the Hedgerow agent enrols itself and waits under
            Approvals.
          </p>
          {add.isError && <Notice tone="danger">{messageOf(add.error)}</Notice>}
          <TextInput label="Gateway Name" withAsterisk data-autofocus {...form.getInputProps('name')} />
          <TextInput label="Location" {...form.getInputProps('location')} />
          <Textarea label="Description" rows={3} {...form.getInputProps('description')} />
          <DialogActions>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={add.isPending}>
              Add Gateway
            </Button>
          </DialogActions>
        </form>
      ) : (
        <>
          <Notice tone="good">
            The gateway is added. It comes online with its first handshake; after that the hub forgets the private key.
          </Notice>
          <VpnConfig gateway={added} />
          <DialogActions>
            <Button onClick={onClose}>Done</Button>
          </DialogActions>
        </>
      )}
    </Dialog>
  )
}
