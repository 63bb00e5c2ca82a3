/**
 * Sign-in in one step or, with two-factor, in two. It then opens the requested address, or the gateways.
 */
import { lazy, Suspense, useState } from 'react'
import { Navigate, useLocation } from 'react-router'
import { useSession } from '#api/session.tsx'
import type { Failure } from '#api/failure.ts'
import { readExpiredMessage } from '#api/token.ts'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance } from '@hedgerow/ui/entrance.tsx'
import type { AskedPath } from './gates.tsx'
import { PasswordForm } from './password-form.tsx'

const CodeForm = lazy(() => import('./code-form.tsx'))

type Step = { name: 'password'; problem?: Failure } | { name: 'code'; challenge: string }

export function SignInPage() {
  const { state } = useSession()
  const asked = useLocation().state as AskedPath | null
  const [cameSignedIn, setCameSignedIn] = useState(true)
  const [expired, setExpired] = useState(readExpiredMessage)
  const [username, setUsername] = useState('')
  const [step, setStep] = useState<Step>({ name: 'password' })

  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') {
    return <Navigate to={asked?.from ?? (cameSignedIn ? '/dashboard' : '/gateways')} replace />
  }
  return (
    <Entrance title="Sign in">
      {step.name === 'password' ? (
        <PasswordForm
          username={username}
          expired={expired}
          problem={step.problem}
          onTry={(name) => {
            setCameSignedIn(false)
            setExpired(null)
            setUsername(name)
          }}
          onChallenge={(challenge) => setStep({ name: 'code', challenge })}
        />
      ) : (
        <Suspense>
          <CodeForm
            challenge={step.challenge}
            username={username}
            onOver={(problem) => setStep({ name: 'password', ...(problem !== undefined && { problem }) })}
          />
        </Suspense>
      )}
    </Entrance>
  )
}
