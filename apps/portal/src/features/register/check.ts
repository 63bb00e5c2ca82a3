/** The form's checks before it calls the hub. Pure; loaded with the first attempt. */
import { registerAccount } from '@hedgerow/contract'
import { INVITE_CODE_MISSING, PASSWORDS_DIFFER } from './messages.ts'

export const FIELDS = [
  'inviteCode',
  'firstName',
  'lastName',
  'username',
  'email',
  'password',
  'confirmPassword',
] as const
export type Field = (typeof FIELDS)[number]
export type Values = Record<Field, string>
export type FieldErrors = Partial<Record<Field, string>>

/** One message for each invalid field; empty if all are valid. */
export function check(values: Values, { inviteCodeRequired }: { inviteCodeRequired: boolean }): FieldErrors {
  const { confirmPassword, ...person } = values
  const errors: FieldErrors = {}
  for (const issue of registerAccount.body.safeParse(person).error?.issues ?? []) {
    const field = FIELDS.find((name) => name === issue.path[0])
    if (field !== undefined) errors[field] ??= issue.message
  }
  if (values.email.trim() === '') errors.email = 'Enter your email address'
  if (values.username.trim() === '') errors.username = 'Enter a username'
  if (inviteCodeRequired && values.inviteCode.trim() === '') errors.inviteCode = INVITE_CODE_MISSING
  if (confirmPassword !== values.password) errors.confirmPassword = PASSWORDS_DIFFER
  return errors
}
