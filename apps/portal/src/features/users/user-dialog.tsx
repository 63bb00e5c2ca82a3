import { newUser, role as roles, updateUser, type HubUser, type Role } from '@hedgerow/contract'
import { Button, NativeSelect, Switch, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { useUser } from '#api/session.tsx'
import { isAsSent, submitTo } from '#parts/submit-to.ts'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useSaveUser, type UserFields } from './queries.ts'
import { ROLE_MEANINGS, RoleIcon } from './role-mark.tsx'
import styles from './user-dialog.module.css'

const NEW = { username: '', email: '', firstName: '', lastName: '', role: 'user' as Role, active: true, password: '' }

type UserDialogProps = DialogLife & { user?: HubUser; isLastAdmin?: boolean }

/** Adds a user, or edits `user` without their password. */
export function UserDialog({ user, isLastAdmin = false, opened, onClose, onGone }: UserDialogProps) {
  const self = useUser()
  const save = useSaveUser(user?.id)
  const form = useForm({
    initialValues: user === undefined ? NEW : { ...pick(user), password: '' },
    validate: schemaResolver(user === undefined ? newUser : updateUser.body, { sync: true }),
  })
  useDraft(`users.${user?.id ?? 'add'}`, form.isDirty() ? { ...form.values, password: '' } : undefined, form.setValues)
  const { role, active } = form.values
  const submit = submitTo(form, async (values) => {
    const { password, ...fields } = values
    const { username } = await save.mutateAsync({ fields, seen: pick(form.getInitialValues()), password })
    // What is typed meanwhile is a change of this.
    form.setInitialValues(values)
    void toast(user === undefined ? `User "${username}" added.` : `User "${username}" saved.`)
    if (user === undefined || isAsSent(form, values)) onClose()
  })
  const isBeside = save.error instanceof ApiError && Object.keys(save.error.fieldErrors).length > 0
  const endsSessions = user !== undefined && (role !== user.role || (user.active && !active))
  return (
    <Dialog
      title={user === undefined ? 'Add User' : `Edit ${user.username}`}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      <form onSubmit={submit} noValidate>
        {save.isError && !isBeside && <Notice tone="danger">{messageOf(save.error)}</Notice>}
        <div className={styles.pair}>
          <TextInput
            label="Username"
            withAsterisk
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            data-autofocus
            {...form.getInputProps('username')}
          />
          <TextInput type="email" label="Email" withAsterisk autoComplete="off" {...form.getInputProps('email')} />
        </div>
        <div className={styles.pair}>
          <TextInput label="First Name" autoComplete="off" {...form.getInputProps('firstName')} />
          <TextInput label="Last Name" autoComplete="off" {...form.getInputProps('lastName')} />
        </div>
        {user === undefined && (
          <PasswordField
            label="Password"
            description="At least 8 characters. They can change it under Profile."
            withAsterisk
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
        )}
        <NativeSelect
          label="Role"
          description={ROLE_MEANINGS[role]}
          leftSection={<RoleIcon role={role} />}
          data={[...roles.options]}
          disabled={isLastAdmin}
          {...form.getInputProps('role')}
        />
        <Switch
          label="Active"
          description="When off, they can’t sign in. Nothing is deleted."
          disabled={isLastAdmin}
          {...form.getInputProps('active', { type: 'checkbox' })}
        />
        {isLastAdmin && (
          <Notice tone="plain">
            This is the last active admin. The hub needs one, so the role and the switch can’t change until somebody
            else is an admin too.
          </Notice>
        )}
        {endsSessions && (
          <Notice tone="warning">
            {user.id === self.id
              ? 'This is your own account: saving signs you out.'
              : `Saving signs ${user.username} out everywhere, at once.`}
          </Notice>
        )}
        <DialogActions onCancel={onClose}>
          <Button type="submit" loading={save.isPending}>
            {user === undefined ? 'Add User' : 'Save User'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

const pick = ({ username, email, firstName, lastName, role, active }: UserFields): UserFields => ({
  username,
  email,
  firstName,
  lastName,
  role,
  active,
})
