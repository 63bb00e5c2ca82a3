import type { Certificate } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { ADMIN_NEEDED } from '#api/roles.ts'
import { Chip } from '@hedgerow/ui/chip.tsx'
import { ActionsCell, Cell, DataTable, Row, TwoLines, type Column } from '@hedgerow/ui/data-table.tsx'
import { useNow } from '@hedgerow/ui/now.ts'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { StatusMark, type MarkShape } from '@hedgerow/ui/status-mark.tsx'
import { certificateStatus, type CertificateStatus } from './certificate-status.ts'
import { useCertificates } from './queries.ts'
import styles from './certificates.module.css'

const RenewDialog = lazy(() => import('./renew-dialog.tsx'))

const COLUMNS: readonly Column[] = [
  { name: 'Name' },
  { name: 'Type', width: '8%' },
  { name: 'Issued To', width: '22%' },
  { name: 'Status', width: '16%' },
  { name: 'Expires', width: '15%' },
  { name: 'Actions', width: '210px' },
]

const SHAPES: Record<CertificateStatus['word'], MarkShape> = { Valid: 'dot', Expiring: 'diamond', Expired: 'ring' }

/** The hub's own CA, its TLS certificate and a configured one, each with its status by expiry. */
export function Certificates({ mayRenew }: { mayRenew: boolean }) {
  const certificates = useCertificates()
  const now = useNow()
  const [renewing, setRenewing] = useState<Certificate | null>(null)
  return (
    <Panel title="Certificates">
      {certificates.data === undefined ? (
        <PanelWaiting query={certificates} rows={3} label="Loading certificates" />
      ) : certificates.data.length === 0 ? (
        <PanelEmpty title="No certificates">This hub answers over plain http only.</PanelEmpty>
      ) : (
        <>
          <DataTable label="Certificates" columns={COLUMNS} rowCount={certificates.data.length} narrow="lines">
            {certificates.data.map((certificate, index) => {
              const { word, reason } = certificateStatus(certificate.expiresAt, now)
              return (
                <Row key={certificate.id} index={index} restOf={certificate.name}>
                  <Cell label="Name" place="title">
                    <span className={styles.name}>
                      <strong>{certificate.name}</strong>
                      {certificate.inUse && <Chip tone="good">in use</Chip>}
                    </span>
                  </Cell>
                  <Cell label="Type">{certificate.type}</Cell>
                  <Cell label="Issued To">
                    <TwoLines first={certificate.issuedTo} second={`by ${certificate.issuedBy}`} />
                  </Cell>
                  <Cell label="Status" place="line">
                    <span className={word === 'Expired' ? `${styles.status} ${styles.expired}` : styles.status}>
                      <StatusMark shape={SHAPES[word]} word={word} reason={reason} />
                    </span>
                  </Cell>
                  <Cell label="Expires">
                    <time dateTime={certificate.expiresAt} title={new Date(certificate.expiresAt).toLocaleString()}>
                      {new Date(certificate.expiresAt).toLocaleDateString()}
                    </time>
                  </Cell>
                  <ActionsCell>
                    <Button
                      size="compact-sm"
                      variant="subtle"
                      aria-label={`Download ${certificate.name}`}
                      onClick={() =>
                        saveFile(
                          new Blob([certificate.pem], { type: 'application/x-pem-file' }),
                          `${certificate.id}.pem`,
                        )
                      }
                    >
                      Download
                    </Button>
                    {certificate.renewable && (
                      <Button
                        size="compact-sm"
                        variant="default"
                        disabled={!mayRenew}
                        title={mayRenew ? undefined : ADMIN_NEEDED}
                        aria-label={`Renew ${certificate.name}`}
                        onClick={() => setRenewing(certificate)}
                      >
                        Renew
                      </Button>
                    )}
                  </ActionsCell>
                </Row>
              )
            })}
          </DataTable>
          <p className={styles.note}>
            The hub renews its own certificates 30 days before they expire. To avoid certificate warnings, download the
            Hub CA and add it to the trust store of browsers and gateways.
            {!certificates.data.some(({ inUse }) => inUse) &&
              ' None is in use now: this hub answers over plain http only (HUB_HTTPS_PORT=off).'}
            {!mayRenew && ' Renewing by hand needs the admin role.'}
          </p>
        </>
      )}
      <Suspense>
        {renewing !== null && <RenewDialog certificate={renewing} onGone={() => setRenewing(null)} />}
      </Suspense>
    </Panel>
  )
}
