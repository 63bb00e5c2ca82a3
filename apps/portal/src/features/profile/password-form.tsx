import { Button } from '@mantine/core'
import { useForm } from '@mantine/form'
import { ApiError, messageOf } from '#api/client.ts'
import { useUser } from '#api/session.tsx'
import { follow } from '#parts/follow.ts'
import { submitTo } from '#parts/submit-to.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { checkPasswords } from './password-check.ts'
import { useChangePassword } from './queries.ts'
import styles from './page.module.css'

const EMPTY = { currentPassword: '', newPassword: '', confirmPassword: '' }

export function PasswordForm() {
  const { username } = useUser()
  const change = useChangePassword()
  const form = useForm({ initialValues: EMPTY, validate: checkPasswords })
  const submit = submitTo(form, async (values) => {
    const { currentPassword, newPassword } = values
    await change.mutateAsync({ currentPassword, newPassword })
    form.setValues(follow(form.getValues(), values, EMPTY))
    void toast('Password changed. Your other sessions have ended.')
  })
  const isBeside = change.error instanceof ApiError && Object.keys(change.error.fieldErrors).length > 0
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {change.isError && !isBeside && <Notice tone="danger">{messageOf(change.error)}</Notice>}
      <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      <PasswordField
        label="Current password"
        autoComplete="current-password"
        showLabel="Show current password"
        {...form.getInputProps('currentPassword')}
      />
      <PasswordField
        label="New password"
        description="At least 8 characters."
        autoComplete="new-password"
        showLabel="Show new password"
        {...form.getInputProps('newPassword')}
      />
      <PasswordField
        label="Confirm new password"
        autoComplete="new-password"
        showLabel="Show repeated password"
        {...form.getInputProps('confirmPassword')}
      />
      <p className={styles.hint}>This ends your other sessions. Tokens for programs stay.</p>
      <div>
        <Button type="submit" loading={change.isPending}>
          Change Password
        </Button>
      </div>
    </form>
  )
}
