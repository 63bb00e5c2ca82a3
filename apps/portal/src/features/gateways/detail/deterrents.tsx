/**
 * What a gateway can switch: its state, a test for managers, Stop and arming, and the newest lines of the ledger. Stop
 * and Disarm never wait for what the hub believes about the gateway.
 */
import { ledgerLine, type GatewayDetail } from '@hedgerow/contract'
import { protectionOf } from '@hedgerow/contract/protection'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { ProtectionChip } from '#parts/gateway-state.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Reasoned, ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { useLedger, useOrder } from './deterrents-queries.ts'
import { HoldButton } from '@hedgerow/ui/hold-button.tsx'
import styles from './gateway-page.module.css'

const SHOWN = 12

export function Deterrents({ gateway }: { gateway: GatewayDetail }) {
  const mayFire = mayManageFleet(useUser().role)
  const ledger = useLedger(gateway.id)
  const { mutate, data: command, error, isPending } = useOrder(gateway.id)
  const { heartbeat } = gateway
  const isHeard = gateway.status !== 'offline'
  const isDisarmed = heartbeat?.armed === false
  const mayNotReach = isHeard ? undefined : 'This gateway is offline.'
  const mayNotTest = mayFire ? (mayNotReach ?? (isDisarmed ? 'This gateway is disarmed.' : undefined)) : MANAGER_NEEDED
  if (heartbeat === null || heartbeat.deterrents.length === 0)
    return <PanelEmpty title="No deterrents">Deterrents in the gateway.yaml of this device appear here.</PanelEmpty>
  return (
    <>
      {isDisarmed && <Notice tone="warning">Disarmed: nothing fires until this gateway is armed again.</Notice>}
      <ul className={styles.detections}>
        {heartbeat.deterrents.map((deterrent) => (
          <li key={deterrent.name}>
            <div className={styles.caption}>
              <strong>{deterrent.name}</strong>
              <ProtectionChip
                protection={protectionOf({
                  isOffline: !isHeard,
                  heartbeat: { ...heartbeat, deterrents: [deterrent] },
                })}
              />
            </div>
            {deterrent.driver !== undefined && <small>{deterrent.driver}</small>}
            <Reasoned reason={mayNotTest}>
              {(refusal) => (
                <HoldButton
                  {...refusal}
                  disabled={isPending || mayNotTest !== undefined}
                  onHeld={() => mutate({ action: 'fire', deterrent: deterrent.name })}
                >
                  Hold to test
                </HoldButton>
              )}
            </Reasoned>
          </li>
        ))}
      </ul>
      <div className={styles.orders}>
        <Button color="red" onClick={() => mutate({ action: 'stop' })}>
          Stop
        </Button>
        {!isDisarmed && (
          <Button variant="default" disabled={isPending} onClick={() => mutate({ action: 'disarm' })}>
            Disarm
          </Button>
        )}
        {mayFire && isDisarmed && (
          <ReasonedButton
            variant="default"
            reason={mayNotReach}
            disabled={isPending}
            onClick={() => mutate({ action: 'arm' })}
          >
            Arm
          </ReasonedButton>
        )}
      </div>
      <output>
        {error !== null && <Notice tone="warning">{messageOf(error)}</Notice>}
        {command !== undefined && command.state !== 'done' && <Notice tone="warning">{command.message}</Notice>}
      </output>
      <ul className={styles.ledger} aria-label="Ledger">
        {(ledger.data ?? []).slice(0, SHOWN).map((entry) => (
          <li key={`${entry.id} ${entry.at}`}>
            <span>{ledgerLine(entry)}</span>
            <RelativeTime at={new Date(entry.at).toISOString()} />
          </li>
        ))}
      </ul>
    </>
  )
}
