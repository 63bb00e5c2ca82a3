/** The form's checks before it calls the hub. Pure. */
import { newPassword } from '@hedgerow/contract'

export type PasswordValues = { currentPassword: string; newPassword: string; confirmPassword: string }

/** The errors by field; valid fields have none. */
export function checkPasswords(values: PasswordValues): Partial<Record<keyof PasswordValues, string>> {
  const wrong = newPassword.safeParse(values.newPassword).error?.issues[0]?.message
  return {
    ...(values.currentPassword === '' && { currentPassword: 'Enter your password' }),
    ...(wrong !== undefined && { newPassword: wrong }),
    ...(values.confirmPassword !== values.newPassword && { confirmPassword: 'Passwords do not match' }),
  }
}
