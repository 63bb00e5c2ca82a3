import { newGateway, type Gateway } from '@hedgerow/contract'
import { Button, Textarea, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { submitTo } from '#parts/submit-to.ts'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
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
  const submit = submitTo(
    form,
    async (values) => {
      onAdded(await add.mutateAsync(values))
    },
    (error) => (error.code === 'gateway_name_taken' ? { name: error.message } : error.fieldErrors),
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
