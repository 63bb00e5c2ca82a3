import { Button } from '@mantine/core'
import { dropWaitingLink } from '#api/provider-sign-in.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'

/** After a sign-in at a provider by a person who may have an account here. */
export default function WaitingLink({ passwords, onCancel }: { passwords: boolean; onCancel: () => void }) {
  return (
    <>
      <Notice tone="warning">
        Your account at the provider is not linked with an account of this hub.{' '}
        {passwords
          ? 'Sign in with your password once: then the provider signs you in. ' +
            'Without an account here, ask an administrator for one.'
          : 'This hub accepts no passwords, so ask an administrator.'}
      </Notice>
      <Button
        variant="default"
        onClick={() => {
          dropWaitingLink()
          onCancel()
        }}
        fullWidth
      >
        Do Not Link
      </Button>
    </>
  )
}
