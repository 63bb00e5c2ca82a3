import { addressForDevices } from '#api/hub-address.ts'
import type { MadeGatewayInvitation } from '#api/gateway-invitations.ts'
import { HelpLink } from '#parts/help-link.tsx'
import { RulesNotice } from '#parts/rules-notice.tsx'
import { CommandLine } from '@hedgerow/ui/command-line.tsx'
import { CopyButton } from '@hedgerow/ui/copy-button.tsx'
import { DownloadIcon } from '@hedgerow/ui/icons.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { Button } from '@mantine/core'
import styles from './add.module.css'
import { useHubVersion } from './queries.ts'
import { CARD_FILE, cardFile, containerCommand, deviceCommand, inLines, type Card, type Kind } from './ways.ts'
import { zoneLines } from './zone-lines.ts'

/** What to do on the device: shown once, because the hub keeps only a hash of the code. */
export function Made({ made, kind }: { made: MadeGatewayInvitation; kind: Exclude<Kind, 'wireguard'> }) {
  const { invitation, command, code, hubUrl, hubFingerprint } = made
  const { label, name, location, maxUses, approves } = invitation
  // Each of several devices has a name of its own.
  const card: Card = { command, code, hubUrl, hubFingerprint, ...(maxUses === 1 && { name, location }) }
  const caution = addressForDevices(hubUrl)
  return (
    <Panel title={`Set up ${label}`}>
      <div className={styles.body}>
        <Notice tone="warning">Copy or scan this now: the hub keeps only a hash of the code.</Notice>
        {caution !== undefined && <Notice tone="plain">{caution}</Notice>}
        {approves && <RulesNotice />}
        <div className={styles.ways}>
          <div className={styles.words}>
            {kind === 'container' ? <Container card={card} /> : <Line card={card} kind={kind} />}
            {kind === 'pi' && <CardImage card={card} />}
            <h3>Code</h3>
            <Mono>{code}</Mono>
            <h3>Hub fingerprint, which the device pins</h3>
            <Mono>{hubFingerprint}</Mono>
          </div>
          <figure className={styles.code}>
            <QrCode text={deviceCommand(card)} label={`QR code of the invitation ${label}`} />
            <figcaption>The line as text, for a phone that is signed in to the device.</figcaption>
          </figure>
        </div>
        <Zone made={made} />
      </div>
    </Panel>
  )
}

const BEFORE = {
  pi: 'On Raspberry Pi OS Lite (64-bit).',
  pc: 'On Debian or Ubuntu, 64-bit.',
  frigate: 'On the machine where Frigate runs.',
  windows:
    'Run wsl --install in PowerShell as administrator, restart, and open Ubuntu. Nobody has tried a gateway on ' +
    'Windows yet, and it runs only while somebody is signed in: a mini PC is safer.',
} as const

function Line({ card, kind }: { card: Card; kind: keyof typeof BEFORE }) {
  const line = deviceCommand(card)
  const isInstaller = line.startsWith('curl ')
  return (
    <>
      <p>
        {BEFORE[kind]}
        {kind === 'frigate' && isInstaller && ' The line finds Frigate and writes it into gateway.yaml.'}
      </p>
      <h3>{isInstaller ? 'In a terminal on the device' : 'In Hedgerow’s folder on the device'}</h3>
      {!isInstaller && (
        <p>
          This hub has no release to install from, so the command runs in a checkout of the sources.{' '}
          <HelpLink to="install-gateway#from-the-sources">How the folder gets there</HelpLink>
        </p>
      )}
      <CommandLine>{inLines(line)}</CommandLine>
      <div className={styles.buttons}>
        <CopyButton text={line}>Copy command</CopyButton>
      </div>
    </>
  )
}

function Container({ card }: { card: Card }) {
  const version = useHubVersion()
  if (version === undefined) return null
  const line = containerCommand(card, version)
  return (
    <>
      <p>
        Load the image of version {version} first. Docker takes the same line.{' '}
        <HelpLink to="containers#a-gateway">Where the image comes from</HelpLink>
      </p>
      <h3>In a terminal on the machine</h3>
      <CommandLine>{inLines(line)}</CommandLine>
      <div className={styles.buttons}>
        <CopyButton text={line}>Copy command</CopyButton>
      </div>
    </>
  )
}

function CardImage({ card }: { card: Card }) {
  return (
    <>
      <h3>Or with the card image</h3>
      <p>
        Put {CARD_FILE} on the card’s first partition. The Pi joins at its first start, and deletes the file.{' '}
        <HelpLink to="raspberry-pi#a-card-that-joins-by-itself">How to make the card</HelpLink>
      </p>
      <div className={styles.buttons}>
        <Button
          variant="default"
          leftSection={<DownloadIcon />}
          onClick={() => saveFile(new Blob([cardFile(card)], { type: 'text/plain' }), CARD_FILE)}
        >
          Download {CARD_FILE}
        </Button>
      </div>
    </>
  )
}

/** The other way to the hub: devices find it by DNS and need no address. */
function Zone({ made: { hubUrl, hubFingerprint } }: { made: MadeGatewayInvitation }) {
  const { lines, isExample } = zoneLines(hubUrl, hubFingerprint)
  const text = lines.join('\n')
  return (
    <details className={styles.more}>
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
