import type { Certificate } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { Dialog, DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useRenewCertificate } from './queries.ts'

export default function RenewDialog({ certificate, onGone }: { certificate: Certificate; onGone: () => void }) {
  const [opened, setOpened] = useState(true)
  const renew = useRenewCertificate()
  const close = () => setOpened(false)
  const submit = async () => {
    const done = await renew.mutateAsync(certificate.id).then(
      () => true,
      () => false,
    )
    if (!done) return
    void toast(`${certificate.name} renewed.`)
    close()
  }
  return (
    <Dialog title={`Renew ${certificate.name}?`} opened={opened} onClose={close} onGone={onGone}>
      <p>
        {certificate.type === 'CA'
          ? 'The CA keeps its name and its key, so browsers and gateways that trust the old certificate also trust ' +
            'the new one. The TLS certificate is renewed too.'
          : 'HTTPS uses the new certificate at once. Open connections continue.'}
      </p>
      <DetailList
        details={[
          ['Expires', new Date(certificate.expiresAt).toLocaleString()],
          ['Fingerprint now', <Mono key="fingerprint">{certificate.fingerprint}</Mono>],
        ]}
      />
      {renew.isError && <Notice tone="danger">{messageOf(renew.error)}</Notice>}
      <DialogActions>
        <Button variant="default" onClick={close}>
          Cancel
        </Button>
        <Button loading={renew.isPending} onClick={() => void submit()} data-autofocus>
          Renew
        </Button>
      </DialogActions>
    </Dialog>
  )
}
