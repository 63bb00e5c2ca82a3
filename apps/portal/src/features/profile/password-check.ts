/** What the form asks for before the hub is asked. Pure. */
import { newPassword } from '@hedgerow/contract'

export type PasswordValues = { currentPassword: string; newPassword: string; confirmPassword: string }

/** In the shape that a form takes its errors in: nothing for a field that is fine. */
export function checkPasswords(values: PasswordValues): Partial<Record<keyof PasswordValues, string>> {
  const wrong = newPassword.safeParse(values.newPassword).error?.issues[0]?.message
  return {
    ...(values.currentPassword === '' && { currentPassword: 'Enter your password' }),
    ...(wrong !== undefined && { newPassword: wrong }),
    ...(values.confirmPassword !== values.newPassword && { confirmPassword: 'Passwords do not match' }),
  }
}
