/** The hub requires two-factor, and this person has none. No other screen opens before it is set up. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { useSession, useUser } from '#api/session.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { RecoveryCodes, TwoFactorSetup } from './two-factor-setup.tsx'

export default function MustSetUpTwoFactor() {
  const { refresh, signOut } = useSession()
  const { username } = useUser()
  const [codes, setCodes] = useState<readonly string[] | undefined>()
  const [problem, setProblem] = useState<string | undefined>()
  const continueTo = () => refresh().catch((error: unknown) => setProblem(messageOf(error)))
  return (
    <Entrance title="Set up two-factor">
      <EntranceHead title="Set up two-factor">
        This hub requires two-factor sign-in. Set it up for {username} to continue.
      </EntranceHead>
      {codes === undefined ? (
        <TwoFactorSetup onEnabled={setCodes} />
      ) : (
        <RecoveryCodes codes={codes} onSaved={() => void continueTo()} />
      )}
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {codes === undefined && (
        <Button variant="subtle" onClick={() => void signOut()}>
          Logout
        </Button>
      )}
    </Entrance>
  )
}
