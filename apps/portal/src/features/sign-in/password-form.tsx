import { Button, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { failureOf, type Failure } from '#api/failure.ts'
import { useSession } from '#api/session.tsx'
import { EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { FailureNotice } from '@hedgerow/ui/failure-notice.tsx'
import { Forgotten } from '@hedgerow/ui/forgotten.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { LOGIN_FAILED, LOGIN_HEAD } from './messages.ts'

type PasswordFormProps = {
  /** The name from the first step, after a return from the second. */
  username: string
  expired: string | null
  problem: Failure | undefined
  onTry: (username: string) => void
  onChallenge: (challenge: string) => void
  /** The hub takes passwords of everybody; else only in an emergency. */
  isUsual: boolean
  /** Above the fields. */
  children?: ReactNode
}

export function PasswordForm({
  username,
  expired,
  problem: first,
  onTry,
  onChallenge,
  isUsual,
  children,
}: PasswordFormProps) {
  const { signIn } = useSession()
  const [problem, setProblem] = useState(first)
  const [working, setWorking] = useState(false)
  const [fieldErrors, setFieldErrors] = useState<FieldErrors>({})

  const submit = async (form: HTMLFormElement) => {
    const entries = new FormData(form)
    const values = { username: String(entries.get('username')), password: String(entries.get('password')) }
    onTry(values.username)
    setProblem(undefined)
    setWorking(true)
    try {
      const wrong = await check(values)
      setFieldErrors(wrong)
      if (Object.keys(wrong).length === 0) {
        const challenge = await signIn(values)
        if (challenge !== undefined) {
          onChallenge(challenge)
          return
        }
      } else focusFirstError(form)
    } catch (error) {
      setProblem(failureOf(error, LOGIN_FAILED))
      const password = form.querySelector<HTMLInputElement>('[name="password"]')
      password?.focus()
      password?.select()
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
      <EntranceHead title={LOGIN_HEAD.title}>{LOGIN_HEAD.lead}</EntranceHead>
      {children}
      {expired !== null && <Notice tone="warning">{expired}</Notice>}
      {problem !== undefined && <FailureNotice {...problem} />}
      <TextInput
        label="Username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        ref={focusUnlessElsewhere}
        name="username"
        defaultValue={username}
        error={fieldErrors.username}
      />
      <PasswordField label="Password" autoComplete="current-password" name="password" error={fieldErrors.password} />
      <Forgotten>
        <p>
          {isUsual && (
            <>
              <a href="/forgot-password">Get a link by mail</a>, if this hub sends mail.{' '}
            </>
          )}
          {isUsual ? 'Otherwise ask' : 'Ask'} the person who runs the hub to set a new one on its machine:{' '}
          <code>hedgerow-hub reset-password NAME</code>, or in its folder{' '}
          <code>npm run hub -- reset-password NAME</code>. Without your authenticator app, sign in with a recovery code;
          without both, an administrator resets two-factor, or <code>hedgerow-hub reset-two-factor NAME</code> on that
          machine.
        </p>
      </Forgotten>
      <Button type="submit" size="md" loading={working} fullWidth>
        Sign In
      </Button>
      {isUsual && (
        <p>
          No account yet? <a href="/register">Create an account</a>
        </p>
      )}
    </form>
  )
}

/** A person may have begun before the script was there. */
function focusUnlessElsewhere(element: HTMLElement | null): void {
  if (document.activeElement === document.body) element?.focus()
}

type FieldErrors = { username?: string | undefined; password?: string | undefined }

/** The schemas come with the first attempt, so that the page itself stays small. */
async function check(values: { username: string; password: string }): Promise<FieldErrors> {
  const { credentials } = await import('@hedgerow/contract')
  const issues = credentials.safeParse(values).error?.issues ?? []
  const first = (field: string) => issues.find((issue) => issue.path[0] === field)?.message
  const errors = { username: first('username'), password: first('password') }
  return errors.username === undefined && errors.password === undefined ? {} : errors
}
