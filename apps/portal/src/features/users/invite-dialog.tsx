import {
  newUserInvitation,
  role as roles,
  type createUserInvitation,
  type ResponseOf,
  type Role,
} from '@hedgerow/contract'
import { Button, NativeSelect, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { registrationLink } from './invitation-text.ts'
import { useCreateInvitation } from './queries.ts'
import { ROLE_MEANINGS, RoleIcon } from './role-mark.tsx'
import styles from './user-dialog.module.css'

const LIFETIMES = [
  { value: '24', label: '1 day' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
]

/** Makes an invitation, then shows its code, the only time that it can be seen. */
export function InviteDialog({ opened, onClose, onGone }: DialogLife) {
  const create = useCreateInvitation()
  const form = useForm({
    initialValues: { label: '', role: 'user' as Role, maxUses: 1, expiresInHours: 168 },
    validate: schemaResolver(newUserInvitation, { sync: true }),
  })
  useDraft('users.invite', form.isDirty() ? form.values : undefined, form.setValues)
  const { role, maxUses, expiresInHours } = form.values
  const submit = form.onSubmit(
    async (values, event) => {
      const element = event?.currentTarget
      try {
        await create.mutateAsync(values)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        form.setErrors(error.fieldErrors)
        focusFirstError(element)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
  const made = create.data
  return (
    <Dialog
      title={made === undefined ? 'Invite' : 'Invitation made'}
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
            description="For the list, such as whom it is for."
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
          <div className={styles.pair}>
            <TextInput
              type="number"
              inputMode="numeric"
              label="People"
              min={1}
              {...form.getInputProps('maxUses')}
              onChange={(event) => form.setFieldValue('maxUses', event.currentTarget.valueAsNumber)}
              value={Number.isNaN(maxUses) ? '' : maxUses}
            />
            <NativeSelect
              label="Expires in"
              data={LIFETIMES}
              value={String(expiresInHours)}
              onChange={(event) => form.setFieldValue('expiresInHours', Number(event.currentTarget.value))}
            />
          </div>
          <DialogActions>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
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
          ['Good until', new Date(made.invitation.expiresAt).toLocaleString()],
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
