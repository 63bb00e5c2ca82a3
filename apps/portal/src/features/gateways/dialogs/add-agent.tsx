import { newGateway } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useCreateGatewayInvitation, type MadeGatewayInvitation } from '#api/gateway-invitations.ts'
import { deviceCommand } from '#parts/device-command.ts'
import { DEFAULT_LIFETIME_HOURS, LifetimeField } from '#parts/invitation-limits.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'

export type MadeCommand = { made: MadeGatewayInvitation; command: string }

/** Creates an invitation for one device, and the command that starts its agent. */
export function AddAgent({ onMade, onBack }: { onMade: (made: MadeCommand) => void; onBack: () => void }) {
  const create = useCreateGatewayInvitation()
  const form = useForm({
    initialValues: { name: '', location: '', expiresInHours: DEFAULT_LIFETIME_HOURS },
    validate: schemaResolver(newGateway.pick({ name: true, location: true }).loose(), { sync: true }),
  })
  useDraft('gateways.add.agent', form.isDirty() ? form.values : undefined, form.setValues)
  const submit = submitTo(
    form,
    async ({ name, location, expiresInHours }) => {
      const made = await create.mutateAsync({ label: name, maxUses: 1, expiresInHours })
      onMade({ made, command: deviceCommand(made.command, { name: name.trim(), location: location.trim() }) })
    },
    ({ fieldErrors: { label, ...others } }) => ({ ...others, ...(label !== undefined && { name: label }) }),
  )
  return (
    <form onSubmit={submit} noValidate>
      {create.isError && <Notice tone="danger">{messageOf(create.error)}</Notice>}
      <TextInput ref={focusOnce} label="Gateway Name" withAsterisk {...form.getInputProps('name')} />
      <TextInput label="Location" {...form.getInputProps('location')} />
      <LifetimeField
        hours={form.values.expiresInHours}
        onChange={(hours) => form.setFieldValue('expiresInHours', hours)}
      />
      <DialogActions>
        <Button variant="default" onClick={onBack}>
          Back
        </Button>
        <Button type="submit" loading={create.isPending}>
          Create Command
        </Button>
      </DialogActions>
    </form>
  )
}
