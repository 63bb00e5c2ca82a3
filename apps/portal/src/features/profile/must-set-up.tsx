/** The hub asks everyone for two-factor, and this person has none yet: nothing else opens until they have. */
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
  const goOn = () => refresh().catch((error: unknown) => setProblem(messageOf(error)))
  return (
    <Entrance title="Set up two-factor">
      <EntranceHead title="Set up two-factor">
        This hub asks everyone for two-factor sign-in. Set it up for {username} to continue.
      </EntranceHead>
      {codes === undefined ? (
        <TwoFactorSetup onEnabled={setCodes} />
      ) : (
        <RecoveryCodes codes={codes} onKept={() => void goOn()} />
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
