/**
 * Create Account: open as the registration settings allow, with an invite code if required. An invitation's link has
 * its code after the #, which browsers send to no server.
 */
import { Button, Loader } from '@mantine/core'
import type { ResponseOf } from '@hedgerow/contract'
import { useEffect, useState, type ComponentType } from 'react'
import { registrationInfo } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { useSession } from '#api/session.tsx'
import { useHash } from '#api/use-hash.ts'
import { useLoaded } from '#api/use-loaded.ts'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { REGISTERED, REGISTER_HEAD } from './messages.ts'
import { RegisterForm } from './register-form.tsx'

const TO_SIGN_IN_MS = 2_000

const loadInfo = (signal: AbortSignal) => api(registrationInfo, { signal })

export type RegistrationInfo = ResponseOf<typeof registrationInfo>

/** `expected` is what the hub said with the page; `Enter` opens the portal for a person who is signed in. */
export function RegisterPage({
  expected,
  Enter,
}: {
  expected?: RegistrationInfo | undefined
  Enter: ComponentType<{ to: string }>
}) {
  const { state } = useSession()
  const hash = useHash()
  const [registered, setRegistered] = useState(false)
  if (state.status === 'loading') return <CentredSpinner />
  if (state.status === 'signed-in') return <Enter to="/dashboard" />
  const invited = new URLSearchParams(hash.slice(1)).get('invite') ?? ''
  return (
    <Entrance title="Create account">
      {registered ? (
        <Registered />
      ) : (
        <Registration expected={expected} invited={invited} onRegistered={() => setRegistered(true)} />
      )}
      <p>
        Have an account? <a href="/login">Sign in</a>
      </p>
    </Entrance>
  )
}

function Registration({
  expected,
  invited,
  onRegistered,
}: {
  expected: RegistrationInfo | undefined
  invited: string
  onRegistered: () => void
}) {
  const { data: info = expected, problem, retry } = useLoaded(loadInfo)

  if (problem !== undefined) {
    return (
      <>
        <EntranceHead title={REGISTER_HEAD.title}>{REGISTER_HEAD.lead}</EntranceHead>
        <Notice tone="danger">{problem}</Notice>
        <Button variant="default" onClick={retry}>
          Try again
        </Button>
      </>
    )
  }
  if (info === undefined) {
    return (
      <>
        <EntranceHead title={REGISTER_HEAD.title}>{REGISTER_HEAD.lead}</EntranceHead>
        <output aria-label="Loading">
          <Loader size={24} />
        </output>
      </>
    )
  }
  if (!info.openRegistration) {
    return (
      <>
        <EntranceHead title={REGISTER_HEAD.title}>On this hub, administrators create the accounts.</EntranceHead>
        <Notice tone="plain">Registration is closed. Ask an administrator for an account.</Notice>
      </>
    )
  }
  return <RegisterForm inviteCodeRequired={info.inviteCodeRequired} invited={invited} onRegistered={onRegistered} />
}

function Registered() {
  useEffect(() => {
    const timer = setTimeout(() => location.assign('/login'), TO_SIGN_IN_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <>
      <EntranceHead title={REGISTER_HEAD.title}>You can sign in in a moment.</EntranceHead>
      <Notice tone="good">{REGISTERED}</Notice>
    </>
  )
}
