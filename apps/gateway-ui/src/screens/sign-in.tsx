import { Button } from '@mantine/core'
import { Navigate, useLocation } from 'react-router'
import { DEVICE_UI_BASE } from '@hedgerow/contract'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'
import { messageOf } from '../calls.ts'
import { ForgotPassword } from '../parts/forgot-password.tsx'
import { useSession, useSignIn } from '../queries.ts'

/** The sign-in with the device's password, on its own network. People who come through the hub never see it. */
export function SignInScreen() {
  const session = useSession()
  const previous = useLocation().state as { from?: string } | null
  const { mutate, error, isPending } = useSignIn()
  if (session.isPending) return <CentredSpinner title="Gateway" />
  if (session.isSuccess && session.data !== null) return <Navigate to={previous?.from ?? '/'} replace />
  return (
    <Entrance title="Sign in" place="Gateway" home={`${DEVICE_UI_BASE}/`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const password = new FormData(event.currentTarget).get('password')
          if (typeof password === 'string' && password !== '') mutate(password)
        }}
      >
        <EntranceHead title="Sign in to this gateway">
          With its own password, which the console showed when the gateway was first started.
        </EntranceHead>
        {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
        {/* For password managers, which keep passwords by name. */}
        <input type="text" name="username" autoComplete="username" value="gateway" readOnly hidden />
        <PasswordField
          label="Password of this device"
          name="password"
          autoComplete="current-password"
          maxLength={200}
          ref={focusOnce}
        />
        <ForgotPassword />
        <Button type="submit" size="md" loading={isPending} fullWidth>
          Sign in
        </Button>
      </form>
    </Entrance>
  )
}
