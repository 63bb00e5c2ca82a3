import type { Certificate } from '@hedgerow/contract'
import { ConfirmDialog } from '#parts/confirm-dialog.tsx'
import { DetailList } from '@hedgerow/ui/detail-list.tsx'
import { useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { toast } from '@hedgerow/ui/toast.tsx'
import { useRenewCertificate } from './queries.ts'

export default function RenewDialog({ certificate, onGone }: { certificate: Certificate; onGone: () => void }) {
  const life = useDialogLife(onGone)
  const renew = useRenewCertificate()
  const confirm = async () => {
    await renew.mutateAsync(certificate.id)
    void toast(`${certificate.name} renewed.`)
  }
  return (
    <ConfirmDialog {...life} title={`Renew ${certificate.name}?`} button="Renew" onConfirm={confirm}>
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
    </ConfirmDialog>
  )
}
