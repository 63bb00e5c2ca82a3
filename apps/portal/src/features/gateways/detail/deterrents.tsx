/** What a gateway can switch: its state, a test for managers, and the newest lines of the ledger. */
import { ledgerLine, type GatewayDetail, type Heartbeat } from '@hedgerow/contract'
import { protectionOf, type ProtectionState } from '@hedgerow/contract/protection'
import { messageOf } from '#api/client.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { ProtectionChip } from '#parts/gateway-state.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Reasoned } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { useOrder } from '#parts/orders.ts'
import { useLedger } from './deterrents-queries.ts'
import { HoldButton } from '@hedgerow/ui/hold-button.tsx'
import styles from './gateway-page.module.css'

const SHOWN = 12

export function Deterrents({ gateway }: { gateway: GatewayDetail }) {
  const mayFire = mayManageFleet(useUser().role)
  const ledger = useLedger(gateway.id)
  const { mutate, data: command, error, isPending } = useOrder(gateway.id)
  const { heartbeat } = gateway
  const isHeard = gateway.status !== 'offline'
  const mayNotReach = isHeard ? undefined : 'This gateway is offline.'
  if (heartbeat === null || heartbeat.deterrents.length === 0)
    return <PanelEmpty title="No deterrents">Deterrents in the gateway.yaml of this device appear here.</PanelEmpty>
  return (
    <>
      <ul className={styles.detections}>
        {heartbeat.deterrents.map((deterrent) => {
          const aheadMs = Date.parse(heartbeat.receivedAt) - heartbeat.clock
          const snoozes = heartbeat.snoozes?.filter(({ camera }) => camera === null)
          const ofDeterrent = { ...heartbeat, snoozes, deterrents: [deterrent] }
          const protection = protectionOf({ isOffline: !isHeard, heartbeat: ofDeterrent, aheadMs })
          const mayNotTest = mayFire ? (mayNotReach ?? whyNoTest(protection.state, deterrent)) : MANAGER_NEEDED
          return (
            <li key={deterrent.name}>
              <div className={styles.caption}>
                <strong>{deterrent.name}</strong>
              </div>
              <ProtectionChip protection={protection} timeZone={gateway.timeZone} isFull />
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
          )
        })}
      </ul>
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

/** People may fire where only rules rest. */
function whyNoTest(state: ProtectionState, { blocked }: Heartbeat['deterrents'][number]): string | undefined {
  if (state === 'disarmed') return 'This gateway is disarmed.'
  if (state === 'snoozed' || state === 'maintenance') return 'This gateway is snoozed.'
  return blocked && blocked.code !== 'not_armed_now' ? 'It would be refused now.' : undefined
}
