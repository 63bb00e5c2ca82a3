/**
 * Sign-in in one step or, with two-factor, in two. It then opens the requested address, or the gateways. It knows no
 * router, because visitors have none (../../app.tsx).
 */
import { lazy, Suspense, useState, useSyncExternalStore, type ComponentType } from 'react'
import { useSession } from '#api/session.tsx'
import type { Failure } from '#api/failure.ts'
import { readExpiredMessage } from '#api/token.ts'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance } from '@hedgerow/ui/entrance.tsx'
import { PasswordForm } from './password-form.tsx'

const CodeForm = lazy(() => import('./code-form.tsx'))

const neverChanges = () => () => undefined

type Step = { name: 'password'; problem?: Failure } | { name: 'code'; challenge: string }

/** `requestedPath` is the address to open afterwards; `Enter` opens it. */
export function SignInPage({ requestedPath, Enter }: { requestedPath?: string; Enter: ComponentType<{ to: string }> }) {
  const { state } = useSession()
  const [cameSignedIn, setCameSignedIn] = useState(true)
  // The build draws this page too, without any storage.
  const stored = useSyncExternalStore(neverChanges, readExpiredMessage, () => null)
  const [hasTried, setHasTried] = useState(false)
  const [username, setUsername] = useState('')
  const [step, setStep] = useState<Step>({ name: 'password' })

  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') {
    return <Enter to={requestedPath ?? (cameSignedIn ? '/dashboard' : '/gateways')} />
  }
  return (
    <Entrance title="Sign in">
      {step.name === 'password' ? (
        <PasswordForm
          username={username}
          expired={hasTried ? null : stored}
          problem={step.problem}
          onTry={(name) => {
            setCameSignedIn(false)
            setHasTried(true)
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
