import { newGatewayInvitation } from '@hedgerow/contract'
import { Button, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useCreateGatewayInvitation } from '#api/gateway-invitations.ts'
import { GatewayInvitationMade } from '#parts/gateway-invitation-made.tsx'
import { DEFAULT_LIFETIME_HOURS, InvitationLimits } from '#parts/invitation-limits.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'

/** Creates an invitation, then shows its code, which is shown only once. */
export function NewDialog({ opened, onClose, onGone }: DialogLife) {
  const create = useCreateGatewayInvitation()
  const form = useForm({
    initialValues: { label: '', maxUses: 1, expiresInHours: DEFAULT_LIFETIME_HOURS },
    validate: schemaResolver(newGatewayInvitation, { sync: true }),
  })
  useDraft('gateway-invitations.new', form.isDirty() ? form.values : undefined, form.setValues)
  const submit = submitTo(form, async (values) => {
    await create.mutateAsync(values)
  })
  const made = create.data
  return (
    <Dialog
      title={made === undefined ? 'New Invitation' : `Invitation ${made.invitation.label}`}
      size={made === undefined ? 'md' : 'xl'}
      shownOnce={made !== undefined}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {made === undefined ? (
        <form onSubmit={submit} noValidate>
          {create.isError && <Notice tone="danger">{messageOf(create.error)}</Notice>}
          <TextInput
            label="Label"
            description="For the list, such as the place or the person who sets up the devices."
            withAsterisk
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('label')}
          />
          <InvitationLimits form={form} uses="Devices" />
          <DialogActions onCancel={onClose}>
            <Button type="submit" loading={create.isPending}>
              Create Invitation
            </Button>
          </DialogActions>
        </form>
      ) : (
        <GatewayInvitationMade made={made} command={made.command} onClose={onClose} />
      )}
    </Dialog>
  )
}
