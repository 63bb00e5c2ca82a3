import { newGateway, type Gateway } from '@hedgerow/contract'
import { Button, Textarea, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { useAddGateway } from '../queries.ts'

/** Adds a gateway for a device that runs plain WireGuard. */
export function AddWireguard({ onAdded, onBack }: { onAdded: (gateway: Gateway) => void; onBack: () => void }) {
  const add = useAddGateway()
  const form = useForm({
    initialValues: { name: '', location: '', description: '' },
    validate: schemaResolver(newGateway, { sync: true }),
  })
  useDraft('gateways.add.wireguard', form.isDirty() ? form.values : undefined, form.setValues)
  const submit = form.onSubmit(
    async (values) => {
      try {
        onAdded(await add.mutateAsync(values))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        form.setErrors(error.code === 'gateway_name_taken' ? { name: error.message } : error.fieldErrors)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
  return (
    <form onSubmit={submit} noValidate>
      {add.isError && <Notice tone="danger">{messageOf(add.error)}</Notice>}
      <TextInput ref={focusOnce} label="Gateway Name" withAsterisk {...form.getInputProps('name')} />
      <TextInput label="Location" {...form.getInputProps('location')} />
      <Textarea label="Description" rows={3} {...form.getInputProps('description')} />
      <DialogActions>
        <Button variant="default" onClick={onBack}>
          Back
        </Button>
        <Button type="submit" loading={add.isPending}>
          Add Gateway
        </Button>
      </DialogActions>
    </form>
  )
}
