/**
 * A forgotten password: asks for a link by mail, and sets the new password with it. The link's token is after the #,
 * which browsers send to no server.
 */
import { TextInput } from '@mantine/core'
import { useState } from 'react'
import { completePasswordReset, requestPasswordReset } from 'virtual:contract-calls'
import { api } from '#api/client.ts'
import { failureOf } from '#api/failure.ts'
import { useHash } from '#api/use-hash.ts'
import { ProofForm } from '#parts/proof-form.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PasswordField } from '@hedgerow/ui/password-field.tsx'

const TITLE = 'Set a new password'
const FAILED = 'The hub did not take it. Try again.'

export function ForgotPasswordPage() {
  const [isSent, setIsSent] = useState(false)
  return (
    <Entrance title={TITLE}>
      {isSent ? (
        <>
          <EntranceHead title={TITLE}>Look into your mailbox.</EntranceHead>
          <Notice tone="good">
            If an active account has this name or address, a link is on its way. It works once, for 30 minutes.
          </Notice>
          <p>Nothing came? Ask the person who runs the hub: your account may have no address.</p>
        </>
      ) : (
        <ProofForm
          empty="Enter your username or your email address"
          failureOf={(error) => failureOf(error, FAILED)}
          prove={async (who) => {
            await api(requestPasswordReset, { body: { who } })
            setIsSent(true)
          }}
          submit={{ words: 'Send the Link', size: 'md', fullWidth: true }}
          renderField={(field) => (
            <TextInput
              label="Username or email"
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              ref={focusOnce}
              {...field}
            />
          )}
        >
          <EntranceHead title={TITLE}>The hub sends a link to the address of your account.</EntranceHead>
        </ProofForm>
      )}
      <ToSignIn />
    </Entrance>
  )
}

export function ResetPasswordPage() {
  const token = useHash().slice(1)
  const [username, setUsername] = useState<string>()
  return (
    <Entrance title={TITLE}>
      {username !== undefined ? (
        <>
          <EntranceHead title={TITLE}>Sign in with it as {username}.</EntranceHead>
          <Notice tone="good">Your new password is set. Your sessions and tokens have ended.</Notice>
        </>
      ) : token === '' ? (
        <>
          <EntranceHead title={TITLE}>This page opens from the link in a mail.</EntranceHead>
          <p>
            Open the link again, or <a href="/forgot-password">get another one</a>.
          </p>
        </>
      ) : (
        <ProofForm
          empty="Enter a new password"
          wrong="password_too_weak"
          failureOf={(error) => failureOf(error, FAILED)}
          prove={async (newPassword) =>
            setUsername((await api(completePasswordReset, { body: { token, newPassword } })).username)
          }
          submit={{ words: 'Set Password', size: 'md', fullWidth: true }}
          renderField={(field) => (
            <PasswordField
              label="New password"
              description="At least 8 characters."
              name="new-password"
              autoComplete="new-password"
              {...field}
            />
          )}
        >
          <EntranceHead title={TITLE}>It ends your sessions everywhere, and your tokens.</EntranceHead>
        </ProofForm>
      )}
      {username === undefined && token !== '' && (
        <p>
          The link is too old? <a href="/forgot-password">Get another one</a>
        </p>
      )}
      <ToSignIn />
    </Entrance>
  )
}

const ToSignIn = () => (
  <p>
    <a href="/login">Sign in</a>
  </p>
)
