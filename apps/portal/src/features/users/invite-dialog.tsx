import {
  newUserInvitation,
  role as roles,
  type createUserInvitation,
  type ResponseOf,
  type Role,
} from '@hedgerow/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { DEFAULT_LIFETIME_HOURS, InvitationLimits } from '#parts/invitation-limits.tsx'
import { submitTo } from '#parts/submit-to.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { registrationLink } from './invitation-text.ts'
import { useCreateInvitation } from './queries.ts'
import { ROLE_MEANINGS, RoleIcon } from './role-mark.tsx'

/** Creates an invitation, then shows its code, which is shown only once. */
export function InviteDialog({ opened, onClose, onGone }: DialogLife) {
  const create = useCreateInvitation()
  const form = useForm({
    initialValues: { label: '', role: 'user' as Role, maxUses: 1, expiresInHours: DEFAULT_LIFETIME_HOURS },
    validate: schemaResolver(newUserInvitation, { sync: true }),
  })
  useDraft('users.invite', form.isDirty() ? form.values : undefined, form.setValues)
  const { role } = form.values
  const submit = submitTo(form, async (values) => {
    await create.mutateAsync(values)
  })
  const made = create.data
  return (
    <Dialog
      title={made === undefined ? 'Invite' : 'Invitation created'}
      shownOnce={made !== undefined}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {made !== undefined ? (
        <Made made={made} onClose={onClose} />
      ) : (
        <form onSubmit={submit} noValidate>
          {create.isError && <Notice tone="danger">{messageOf(create.error)}</Notice>}
          <TextInput
            label="Label"
            description="For the list, such as the name of the person."
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('label')}
          />
          <NativeSelect
            label="Role"
            description={ROLE_MEANINGS[role]}
            leftSection={<RoleIcon role={role} />}
            data={[...roles.options]}
            {...form.getInputProps('role')}
          />
          <InvitationLimits form={form} uses="People" />
          <DialogActions onCancel={onClose}>
            <Button type="submit" loading={create.isPending}>
              Create Invitation
            </Button>
          </DialogActions>
        </form>
      )}
    </Dialog>
  )
}

function Made({ made, onClose }: { made: ResponseOf<typeof createUserInvitation>; onClose: () => void }) {
  const link = registrationLink(location.origin, made.code)
  return (
    <>
      <Notice tone="warning">Copy the link or the code now: the hub keeps only a hash of it.</Notice>
      <DetailList
        details={[
          ['Link', <Mono key="link">{link}</Mono>],
          ['Invite code', <Mono key="code">{made.code}</Mono>],
          ['Role', made.invitation.role],
          ['Valid until', new Date(made.invitation.expiresAt).toLocaleString()],
        ]}
      />
      <DialogActions>
        <CopyButton text={made.code}>Copy code</CopyButton>
        <CopyButton text={link}>Copy link</CopyButton>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </>
  )
}
