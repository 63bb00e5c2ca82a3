import { addressForDevices } from '#api/hub-address.ts'
import type { MadeGatewayInvitation } from '#api/gateway-invitations.ts'
import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DialogActions } from '@hedgerow/ui/dialog.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { Button } from '@mantine/core'
import { inLines } from './device-command.ts'
import styles from './gateway-invitation-made.module.css'
import { RulesNotice } from './rules-notice.tsx'
import { zoneLines } from './zone-lines.ts'

type GatewayInvitationMadeProps = { made: MadeGatewayInvitation; command: string; onClose: () => void }

/** The command to run on the device: shown once, because the hub keeps only a hash of the code. */
export function GatewayInvitationMade({ made, command, onClose }: GatewayInvitationMadeProps) {
  const caution = addressForDevices(made.hubUrl)
  const isInstall = command.startsWith('curl ')
  return (
    <>
      <Notice tone="warning">Copy the command or scan it now: the hub keeps only a hash of the code.</Notice>
      {caution !== undefined && <Notice tone="plain">{caution}</Notice>}
      <RulesNotice />
      <div className={styles.ways}>
        <div className={styles.words}>
          <h3>{isInstall ? 'In a terminal on the device' : 'In Hedgerow’s folder on the device'}</h3>
          <CommandLine>{inLines(command)}</CommandLine>
          <h3>Code</h3>
          <Mono>{made.code}</Mono>
          <h3>Hub fingerprint, which the device pins</h3>
          <Mono>{made.hubFingerprint}</Mono>
        </div>
        <figure className={styles.code}>
          <QrCode text={command} label={`QR code of the invitation ${made.invitation.label}`} />
          <figcaption>The same command as text, for a phone that is signed in to the device.</figcaption>
        </figure>
      </div>
      <Zone made={made} />
      <DialogActions>
        <CopyButton text={command}>Copy command</CopyButton>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </>
  )
}

/** The other way to the hub: devices find it by DNS and need no address. */
function Zone({ made: { hubUrl, hubFingerprint } }: { made: MadeGatewayInvitation }) {
  const { lines, isExample } = zoneLines(hubUrl, hubFingerprint)
  const text = lines.join('\n')
  return (
    <details className={styles.zone}>
      <summary>DNS lines for devices that find the hub by themselves</summary>
      <p>
        With these lines in your DNS zone, devices in its network need neither the address nor the fingerprint. They
        still wait for approval or need the code.
        {isExample && ' Replace example.net with your own zone.'}
      </p>
      <CommandLine>{text}</CommandLine>
      <CopyButton text={text}>Copy lines</CopyButton>
    </details>
  )
}
