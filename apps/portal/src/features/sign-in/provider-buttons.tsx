import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { leaveForProvider } from '#api/provider-sign-in.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'

type ProviderButtonsProps = {
  ways: { address: string | null; providers: readonly { id: string; name: string }[] }
  requestedPath: string | undefined
}

/** A provider sends people back to one address of the hub, so the sign-in has to begin there. */
export default function ProviderButtons({ ways, requestedPath }: ProviderButtonsProps) {
  const [problem, setProblem] = useState<string>()
  const [leaving, setLeaving] = useState<string>()
  const leave = async (id: string) => {
    setLeaving(id)
    setProblem(undefined)
    try {
      await leaveForProvider(id, requestedPath)
    } catch (error) {
      setProblem(messageOf(error))
      setLeaving(undefined)
    }
  }
  if (ways.address !== null && ways.address !== location.origin)
    return (
      <p>
        To sign in with {ways.providers.map(({ name }) => name).join(' or ')}, open the hub at{' '}
        <a href={`${ways.address}/login`}>{ways.address}</a>.
      </p>
    )
  return (
    <>
      {problem !== undefined && <Notice tone="danger">{problem}</Notice>}
      {ways.providers.map(({ id, name }) => (
        <Button
          key={id}
          variant="default"
          size="md"
          loading={leaving === id}
          disabled={leaving !== undefined && leaving !== id}
          onClick={() => void leave(id)}
          fullWidth
        >
          Sign in with {name}
        </Button>
      ))}
    </>
  )
}
