import {
  newUserInvitation,
  role as roles,
  type createUserInvitation,
  type ResponseOf,
  type Role,
} from '@hedgerow/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { Link } from 'react-router'
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
import { useCreateInvitation, useSendsMail } from './queries.ts'
import { ROLE_MEANINGS, RoleIcon } from './role-mark.tsx'

/** Creates an invitation, then shows its code, which is shown only once. */
export function InviteDialog({ opened, onClose, onGone }: DialogLife) {
  const create = useCreateInvitation()
  const sendsMail = useSendsMail()
  const form = useForm({
    initialValues: { label: '', role: 'user' as Role, maxUses: 1, expiresInHours: DEFAULT_LIFETIME_HOURS, email: '' },
    validate: (values) => schemaResolver(newUserInvitation, { sync: true })(bodyOf(values)),
  })
  useDraft('users.invite', form.isDirty() ? form.values : undefined, form.setValues)
  const { role } = form.values
  const submit = submitTo(form, async (values) => {
    await create.mutateAsync(bodyOf(values))
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
          {sendsMail === true && (
            <TextInput
              type="email"
              label="Send to"
              description="Optional: the hub sends the link to this address."
              autoComplete="off"
              {...form.getInputProps('email')}
            />
          )}
          {sendsMail === false && (
            <p>
              To have the hub send invitations, set Mail up under <Link to="/alert-rules">Alert Rules</Link>, Channels.
            </p>
          )}
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

/** Without an address, the hub sends nothing. */
const bodyOf = <V extends { email: string }>({ email, ...rest }: V) => (email.trim() === '' ? rest : { ...rest, email })

function Made({ made, onClose }: { made: ResponseOf<typeof createUserInvitation>; onClose: () => void }) {
  const link = registrationLink(location.origin, made.code)
  return (
    <>
      {made.mail?.problem === null && <Notice tone="good">The link was sent to {made.mail.to}.</Notice>}
      {typeof made.mail?.problem === 'string' && (
        <Notice tone="danger">
          No mail went to {made.mail.to}: {made.mail.problem} Send them the link yourself.
        </Notice>
      )}
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
