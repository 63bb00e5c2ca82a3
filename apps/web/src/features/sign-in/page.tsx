/** Signing in: the one screen of a visitor. Goes on to the address that was asked for, else to the gateways. */
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { messageOf } from '#api/client.ts'
import { useSession } from '#api/session.tsx'
import { readExpiredMessage } from '#api/token.ts'
import { CentredSpinner } from '#ui/centred-spinner.tsx'
import { Notice } from '#ui/notice.tsx'
import { Wordmark } from '#ui/wordmark.tsx'
import type { AskedPath } from './gates.tsx'
import styles from './page.module.css'

export function SignInPage() {
  const { state, signIn } = useSession()
  const asked = useLocation().state as AskedPath | null
  const [cameSignedIn, setCameSignedIn] = useState(true)
  const [expired, setExpired] = useState(readExpiredMessage)
  const [problem, setProblem] = useState<string | null>(null)
  const [working, setWorking] = useState(false)
  const [fieldErrors, setFieldErrors] = useState<FieldErrors>({})

  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') {
    return <Navigate to={cameSignedIn ? '/dashboard' : (asked?.from ?? '/gateways')} replace />
  }

  const submit = async (entries: FormData) => {
    const values = { username: String(entries.get('username')), password: String(entries.get('password')) }
    setCameSignedIn(false)
    setExpired(null)
    setProblem(null)
    setWorking(true)
    try {
      const wrong = await check(values)
      setFieldErrors(wrong)
      if (Object.keys(wrong).length === 0) await signIn(values)
    } catch (error) {
      setProblem(messageOf(error))
    }
    setWorking(false)
  }

  return (
    <div className={styles.screen}>
      <title>Sign in · Hub</title>
      <header className={styles.bar}>
        <Wordmark />
      </header>
      <main className={styles.main}>
        <form
          className={styles.form}
          onSubmit={(event) => {
            event.preventDefault()
            void submit(new FormData(event.currentTarget))
          }}
          noValidate
        >
          <div>
            <h1>Sign in to the hub</h1>
            <p className={styles.lead}>See your gateways and open their pages.</p>
          </div>
          {expired !== null && <Notice tone="warning">{expired}</Notice>}
          {problem !== null && <Notice tone="danger">{problem}</Notice>}
          <TextInput
            label="Username"
            autoComplete="username"
            autoCapitalize="none"
            ref={focusFirst}
            name="username"
            error={fieldErrors.username}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
            name="password"
            error={fieldErrors.password}
          />
          <Button type="submit" size="md" loading={working} fullWidth>
            Sign In
          </Button>
        </form>
      </main>
      <HedgeLine />
    </div>
  )
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

/** There is nothing to read before the first field, so typing may begin at once. */
const focusFirst = (field: HTMLInputElement | null) => field?.focus()

/** A hedgerow on the horizon: ornament only. */
function HedgeLine() {
  return (
    <svg className={styles.hedge} viewBox="0 0 1200 90" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <path d="M0 90V62c24-22 52-20 74-4 18-34 70-38 94-6 22-20 56-16 70 6 26-30 76-26 92 4 20-16 48-14 62 2 26-40 92-40 112-2 20-18 50-16 66 4 24-34 78-32 96 0 22-16 46-12 60 4 24-32 74-34 98-4 20-20 56-18 72 4 22-28 66-28 86 0 18-14 42-12 56 2 22-30 68-32 90-4 18-16 48-18 72 4v22z" />
    </svg>
  )
}
