import { Button, TextInput } from '@mantine/core'
import { ApiError } from '#api/client.ts'
import { failureOf, type Failure } from '#api/failure.ts'
import { useSession } from '#api/session.tsx'
import { ProofForm } from '#parts/proof-form.tsx'
import { EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { LOGIN_FAILED } from './messages.ts'

type CodeFormProps = {
  challenge: string
  username: string
  /** Goes back to the password, with the reason if the challenge ended by itself. */
  onOver: (problem?: Failure) => void
}

/** The second step of signing in: the code of the authenticator app, or a recovery code. */
export default function CodeForm({ challenge, username, onOver }: CodeFormProps) {
  const { confirmSignIn } = useSession()
  const prove = async (code: string) => {
    try {
      await confirmSignIn({ challenge, code: code.trim() })
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'challenge_ended')) throw error
      onOver({ message: error.message })
    }
  }
  return (
    <ProofForm
      empty="Enter the code"
      wrong="two_factor_code_wrong"
      failureOf={(error) => failureOf(error, LOGIN_FAILED)}
      prove={prove}
      submit={{ words: 'Sign In', size: 'md', fullWidth: true }}
      renderField={(field) => (
        <TextInput
          label="Code"
          description="Six digits, or one of your recovery codes if you do not have the app."
          name="code"
          autoComplete="one-time-code"
          autoCapitalize="characters"
          spellCheck={false}
          ref={focusOnce}
          {...field}
        />
      )}
      below={
        <Button variant="subtle" onClick={() => onOver()} fullWidth>
          Back
        </Button>
      }
    >
      <EntranceHead title="One more step">
        {username} signs in with two-factor. Open the authenticator app and type the code that it shows.
      </EntranceHead>
    </ProofForm>
  )
}
