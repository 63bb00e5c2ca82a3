/**
 * Sign-in in one step or, with two-factor, in two. It then opens the requested address, or the gateways. It knows no
 * router, because visitors have none (../../app.tsx).
 */
import { Button } from '@mantine/core'
import { lazy, Suspense, useEffect, useState, useSyncExternalStore, type ComponentType } from 'react'
import type { ResponseOf } from '@hedgerow/contract'
import { signInWays } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { readWaitingLink } from '#api/provider-sign-in.ts'
import { useSession } from '#api/session.tsx'
import type { Failure } from '#api/failure.ts'
import { readExpiredMessage } from '#api/token.ts'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { LOGIN_HEAD } from './messages.ts'
import { PasswordForm } from './password-form.tsx'

const CodeForm = lazy(() => import('./code-form.tsx'))
const ProviderButtons = lazy(() => import('./provider-buttons.tsx'))
const WaitingLink = lazy(() => import('./waiting-link.tsx'))

const neverChanges = () => () => undefined

type Step = { name: 'password'; problem?: Failure } | { name: 'code'; challenge: string }

/** The ways to sign in besides a password come after the form, which the hub has drawn already. */
function useWays(): ResponseOf<typeof signInWays> | undefined {
  const [ways, setWays] = useState<ResponseOf<typeof signInWays>>()
  useEffect(() => {
    const controller = new AbortController()
    api(signInWays, { signal: controller.signal }).then(setWays, () => undefined)
    return () => controller.abort()
  }, [])
  return ways
}

/** `requestedPath` is the address to open afterwards; `Enter` opens it. */
export function SignInPage({ requestedPath, Enter }: { requestedPath?: string; Enter: ComponentType<{ to: string }> }) {
  const { state } = useSession()
  const [cameSignedIn, setCameSignedIn] = useState(true)
  // The build draws this page too, without any storage.
  const stored = useSyncExternalStore(neverChanges, readExpiredMessage, () => null)
  const [hasTried, setHasTried] = useState(false)
  const [username, setUsername] = useState('')
  const [step, setStep] = useState<Step>({ name: 'password' })
  const waits = useSyncExternalStore(neverChanges, readWaitingLink, () => null) !== null
  const [cancelled, setCancelled] = useState(false)
  const [usesPassword, setUsesPassword] = useState(false)
  const ways = useWays()
  const isLinking = waits && !cancelled
  const takesPasswords = ways === undefined || ways.passwords || usesPassword

  const waiting = isLinking && (
    <Suspense>
      <WaitingLink passwords={takesPasswords} onCancel={() => setCancelled(true)} />
    </Suspense>
  )

  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') {
    return <Enter to={requestedPath ?? (cameSignedIn ? '/dashboard' : '/gateways')} />
  }
  return (
    <Entrance title="Sign in">
      {step.name === 'password' && !takesPasswords && (
        <>
          <EntranceHead title={LOGIN_HEAD.title}>{LOGIN_HEAD.lead}</EntranceHead>
          {waiting}
        </>
      )}
      {step.name === 'password' && takesPasswords && (
        <PasswordForm
          username={username}
          expired={hasTried ? null : stored}
          isUsual={ways?.passwords !== false}
          problem={step.problem}
          onTry={(name) => {
            setCameSignedIn(false)
            setHasTried(true)
            setUsername(name)
          }}
          onChallenge={(challenge) => setStep({ name: 'code', challenge })}
        >
          {waiting}
        </PasswordForm>
      )}
      {step.name === 'password' && !isLinking && ways !== undefined && ways.providers.length > 0 && (
        <Suspense>
          <ProviderButtons ways={ways} requestedPath={requestedPath} />
        </Suspense>
      )}
      {step.name === 'password' && !takesPasswords && (
        <Button variant="subtle" onClick={() => setUsesPassword(true)} fullWidth>
          Use a Password
        </Button>
      )}
      {step.name === 'code' && (
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
