import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { ApiError } from '#api/client.ts'
import { failureOf, type Failure } from '#api/failure.ts'
import { useSession } from '#api/session.tsx'
import { EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { FailureNotice } from '@hedgerow/ui/failure-notice.tsx'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'
import { LOGIN_FAILED } from './messages.ts'

type CodeFormProps = {
  challenge: string
  username: string
  /** Goes back to the password, with the reason unless the person chose it. */
  onOver: (problem?: Failure) => void
}

/** The second step of signing in: the code of the authenticator app, or a recovery code. */
export default function CodeForm({ challenge, username, onOver }: CodeFormProps) {
  const { confirmSignIn } = useSession()
  const [working, setWorking] = useState(false)
  const [wrong, setWrong] = useState<string | undefined>()
  const [problem, setProblem] = useState<Failure | undefined>()

  const submit = async (form: HTMLFormElement) => {
    const code = String(new FormData(form).get('code')).trim()
    setProblem(undefined)
    setWrong(code === '' ? 'Enter the code' : undefined)
    if (code === '') {
      focusFirstError(form)
      return
    }
    setWorking(true)
    try {
      await confirmSignIn({ challenge, code })
      return
    } catch (error) {
      if (error instanceof ApiError && error.code === 'challenge_ended') {
        onOver({ message: error.message })
        return
      }
      if (error instanceof ApiError && error.code === 'two_factor_code_wrong') {
        setWrong(error.message)
        focusFirstError(form)
      } else setProblem(failureOf(error, LOGIN_FAILED))
    }
    setWorking(false)
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
      noValidate
    >
      <EntranceHead title="One more step">
        {username} signs in with two-factor. Open the authenticator app and type the code that it shows.
      </EntranceHead>
      {problem !== undefined && <FailureNotice {...problem} />}
      <TextInput
        label="Code"
        description="Six digits, or one of your recovery codes if you do not have the app."
        name="code"
        autoComplete="one-time-code"
        autoCapitalize="characters"
        spellCheck={false}
        ref={focusOnce}
        error={wrong}
      />
      <Button type="submit" size="md" loading={working} fullWidth>
        Sign In
      </Button>
      <Button variant="subtle" onClick={() => onOver()} fullWidth>
        Back
      </Button>
    </form>
  )
}

/** The only field of this step. */
const focusOnce = (field: HTMLInputElement | null) => field?.focus()
