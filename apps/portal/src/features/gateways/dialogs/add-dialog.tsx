import type { Gateway } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { useDraft } from '#api/drafts.ts'
import { GatewayInvitationMade } from '#parts/gateway-invitation-made.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import { Dialog, DialogActions, type DialogLife } from '@hedgerow/ui/dialog.tsx'
import { focusOnce } from '@hedgerow/ui/focus-once.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import styles from '../page.module.css'
import { AddAgent, type MadeCommand } from './add-agent.tsx'
import { AddWireguard } from './add-wireguard.tsx'
import { VpnConfig } from './vpn-config.tsx'

type Kind = 'agent' | 'wireguard'
type Result = { kind: 'agent'; made: MadeCommand } | { kind: 'wireguard'; gateway: Gateway }

/** Asks for the kind of device first, then for its name, and ends with the command or configuration for the device. */
export function AddDialog({ opened, onClose, onGone }: DialogLife) {
  const [kind, setKind] = useState<Kind | null>(null)
  const [result, setResult] = useState<Result | null>(null)
  useDraft('gateways.add', kind ?? undefined, setKind)
  const back = () => setKind(null)
  return (
    <Dialog
      title={titleOf(result)}
      size={result === null ? 'md' : 'xl'}
      shownOnce={result?.kind === 'agent'}
      opened={opened}
      onClose={onClose}
      onGone={onGone}
    >
      {result?.kind === 'agent' ? (
        <GatewayInvitationMade {...result.made} onClose={onClose} />
      ) : result?.kind === 'wireguard' ? (
        <>
          <Notice tone="good">
            The gateway is added. It is online after its first handshake; then the hub deletes the private key.
          </Notice>
          <VpnConfig gateway={result.gateway} />
          <DialogActions>
            <Button onClick={onClose}>Done</Button>
          </DialogActions>
        </>
      ) : kind === 'agent' ? (
        <AddAgent onMade={(made) => setResult({ kind, made })} onBack={back} />
      ) : kind === 'wireguard' ? (
        <AddWireguard onAdded={(gateway) => setResult({ kind, gateway })} onBack={back} />
      ) : (
        <Kinds onChoose={setKind} />
      )}
    </Dialog>
  )
}

function titleOf(result: Result | null): string {
  if (result === null) return 'Add Gateway'
  return `Set up ${result.kind === 'agent' ? result.made.made.invitation.label : result.gateway.name}`
}

function Kinds({ onChoose }: { onChoose: (kind: Kind) => void }) {
  return (
    <>
      <p>What runs on the device?</p>
      <div className={styles.kinds}>
        <button ref={focusOnce} type="button" data-autofocus onClick={() => onChoose('agent')}>
          <strong>Hedgerow agent</strong>
          <span>A small computer with cameras. You get a command to run on it.</span>
        </button>
        <button type="button" onClick={() => onChoose('wireguard')}>
          <strong>Plain WireGuard</strong>
          <span>A router or another device. You get a WireGuard configuration for it.</span>
        </button>
      </div>
      <p className={styles.hint}>
        A device that runs the agent and finds the hub by itself waits under Approvals, without this dialog.{' '}
        <HelpLink to="install-gateway">All ways to install one</HelpLink>
      </p>
    </>
  )
}
