/** Where a provider sends the browser back. The answer is in the address, which is cleared at once. */
import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import { messageOf } from '#api/client.ts'
import { takeBegun } from '#api/provider-sign-in.ts'
import { useSession } from '#api/session.tsx'
import { CentredSpinner } from '@hedgerow/ui/centred-spinner.tsx'
import { Entrance, EntranceHead } from '@hedgerow/ui/entrance.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'

const OTHER_TAB = 'This sign-in began in another tab or browser, or is over. Begin again.'

export function ProviderPage() {
  const { provider = '' } = useParams()
  const { signInAtProvider } = useSession()
  const navigate = useNavigate()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    const { search } = location
    if (search === '') return
    history.replaceState(history.state, '', location.pathname)
    const begun = takeBegun()
    const finish = async () => {
      if (begun === undefined) return setProblem(OTHER_TAB)
      try {
        const isIn = await signInAtProvider(provider, { ticket: begun.ticket, answer: search })
        await navigate(isIn ? (begun.to ?? '/gateways') : '/login', { replace: true })
      } catch (error) {
        setProblem(messageOf(error))
      }
    }
    void finish()
  }, [provider, signInAtProvider, navigate])
  if (problem === undefined && location.search !== '') return <CentredSpinner />
  return (
    <Entrance title="Sign in">
      <EntranceHead title="Sign in to the hub">The sign-in with the provider did not end well.</EntranceHead>
      <Notice tone="danger">{problem ?? OTHER_TAB}</Notice>
      <Button component="a" href="/login" size="md" fullWidth>
        Back to Sign In
      </Button>
    </Entrance>
  )
}
