/** Signing in: the one screen of a visitor. Goes on to the address that was asked for, else to the gateways. */
import { credentials } from '@hedgerow/contract'
import { Button, PasswordInput, TextInput } from '@mantine/core'
import { schemaResolver, useForm } from '@mantine/form'
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
  const form = useForm({
    initialValues: { username: '', password: '' },
    validate: schemaResolver(credentials, { sync: true }),
  })

  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') {
    return <Navigate to={cameSignedIn ? '/dashboard' : (asked?.from ?? '/gateways')} replace />
  }

  const submit = form.onSubmit(async (values) => {
    setCameSignedIn(false)
    setExpired(null)
    setProblem(null)
    setWorking(true)
    try {
      await signIn(values)
    } catch (error) {
      setProblem(messageOf(error) || 'Login failed. Please try again.')
      setWorking(false)
    }
  })

  return (
    <div className={styles.screen}>
      <title>Sign in · Hub</title>
      <header className={styles.bar}>
        <Wordmark />
      </header>
      <main className={styles.main}>
        <form className={styles.form} onSubmit={submit} noValidate>
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
            {...form.getInputProps('username')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
            {...form.getInputProps('password')}
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
