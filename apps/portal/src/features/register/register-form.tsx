import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { registerAccount } from 'virtual:contract-calls'
import { api, ApiError } from '#api/client.ts'
import { failureOf, type Failure } from '#api/failure.ts'
import { EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { FailureNotice } from '@hedgerow/ui/failure-notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import type { FieldErrors, Values } from './check.ts'
import { FAILED, REGISTER_HEAD, wordsOfRefusal } from './messages.ts'
import styles from './register-form.module.css'

type RegisterFormProps = {
  inviteCodeRequired: boolean
  /** The code in the invitation's link; otherwise empty. */
  invited: string
  onRegistered: () => void
}

export function RegisterForm({ inviteCodeRequired, invited, onRegistered }: RegisterFormProps) {
  const [errors, setErrors] = useState<FieldErrors>({})
  const [problem, setProblem] = useState<Failure | undefined>()
  const [working, setWorking] = useState(false)
  // An invitation may also have a role, so its code is used even if none is required.
  const showsCode = inviteCodeRequired || invited !== ''

  const submit = async (form: HTMLFormElement) => {
    const values = valuesOf(new FormData(form))
    setProblem(undefined)
    setWorking(true)
    const { check } = await import('./check.ts')
    const wrong = check(values, { inviteCodeRequired })
    setErrors(wrong)
    if (Object.keys(wrong).length > 0) {
      focusFirstError(form)
      setWorking(false)
      return
    }
    const { confirmPassword: _, inviteCode, ...person } = values
    try {
      await api(registerAccount, { body: { ...person, ...(inviteCode.trim() !== '' && { inviteCode }) } })
      onRegistered()
      return
    } catch (error) {
      const beside = besideFields(error, new FormData(form))
      setErrors(beside)
      if (Object.keys(beside).length > 0) focusFirstError(form)
      else setProblem(failureOf(error, FAILED, wordsOfRefusal))
    }
    setWorking(false)
  }

  return (
    <form
      // Without a script, a password must not become part of an address.
      method="post"
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
      noValidate
    >
      <EntranceHead title={REGISTER_HEAD.title}>
        {inviteCodeRequired ? 'With the invite code that an administrator gave you.' : 'Your own account on this hub.'}
      </EntranceHead>
      {problem !== undefined && <FailureNotice {...problem} />}
      {showsCode && (
        <TextInput
          key={invited}
          label="Invite code"
          name="inviteCode"
          withAsterisk={inviteCodeRequired}
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          defaultValue={invited}
          error={errors.inviteCode}
        />
      )}
      <div className={styles.names}>
        <TextInput
          label="First name"
          name="firstName"
          withAsterisk
          autoComplete="given-name"
          error={errors.firstName}
        />
        <TextInput label="Last name" name="lastName" withAsterisk autoComplete="family-name" error={errors.lastName} />
      </div>
      <TextInput
        label="Username"
        name="username"
        withAsterisk
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        error={errors.username}
      />
      <TextInput type="email" label="Email" name="email" withAsterisk autoComplete="email" error={errors.email} />
      <PasswordField
        label="Password"
        description="At least 8 characters."
        name="password"
        withAsterisk
        autoComplete="new-password"
        error={errors.password}
      />
      <PasswordField
        label="Confirm password"
        name="confirmPassword"
        withAsterisk
        autoComplete="new-password"
        showLabel="Show repeated password"
        error={errors.confirmPassword}
      />
      <Button type="submit" size="md" loading={working} fullWidth>
        Create Account
      </Button>
    </form>
  )
}

function valuesOf(entries: FormData): Values {
  const value = (name: keyof Values) => {
    const entry = entries.get(name)
    return typeof entry === 'string' ? entry : ''
  }
  return {
    inviteCode: value('inviteCode'),
    firstName: value('firstName'),
    lastName: value('lastName'),
    username: value('username'),
    email: value('email'),
    password: value('password'),
    confirmPassword: value('confirmPassword'),
  }
}

/** The hub's errors for the fields of this form. */
function besideFields(error: unknown, entries: FormData): FieldErrors {
  if (!(error instanceof ApiError)) return {}
  const fieldErrors = error.code === 'invite_code_invalid' ? { inviteCode: error.message } : error.fieldErrors
  return Object.fromEntries(Object.entries(fieldErrors).filter(([name]) => entries.has(name)))
}
