import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { isForbidden, messageOf } from '#api/client.ts'
import { MANAGER_NEEDED } from '#api/roles.ts'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DownloadIcon } from '@hedgerow/ui/icons.tsx'
import { PanelError, PanelForbidden, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { configFileName, hasPrivateKey } from './config-file.ts'
import { useVpnConfig } from '../queries.ts'
import styles from '../page.module.css'

/** The configuration, to scan, copy or download. It has a QR code only if it is complete. */
export function VpnConfig({ gateway }: { gateway: Gateway }) {
  const config = useVpnConfig(gateway.id)
  if (config.isPending) return <PanelSkeleton rows={8} label="Loading the configuration" />
  if (config.isError) {
    if (isForbidden(config.error)) return <PanelForbidden>{MANAGER_NEEDED}</PanelForbidden>
    return (
      <PanelError
        message={messageOf(config.error)}
        retrying={config.isFetching}
        onRetry={() => void config.refetch()}
      />
    )
  }
  const text = config.data.config
  const complete = hasPrivateKey(text)
  return (
    <>
      <div className={complete ? styles.vpn : undefined}>
        <pre className={styles.config}>{text}</pre>
        {complete && <QrCode text={text} label={`QR code of the configuration of ${gateway.name}`} />}
      </div>
      <p className={styles.hint}>
        {complete
          ? 'Scan the code with the WireGuard app, or save the file as a wg-quick configuration. It contains the ' +
            'device’s private key: treat it like a password.'
          : gateway.kind === 'enrolled'
            ? 'The gateway made its own private key and never sends it. You can compare the rest with the device.'
            : 'The device has connected, so the hub no longer has its private key.'}
      </p>
      <div className={styles.buttons}>
        <CopyButton text={text}>Copy</CopyButton>
        <Button
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), configFileName(gateway.name))}
        >
          Download
        </Button>
      </div>
    </>
  )
}
