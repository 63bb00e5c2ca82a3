/** An incident in words: where, when, what was done and whether it worked; and what can be done now. */
import { deedLines } from '@hedgerow/contract/protection'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { useKnownGateway } from '#api/gateways.ts'
import { ProtectionChip } from '#parts/gateway-state.tsx'
import { ProtectionControls } from '#parts/protection-controls.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { SiteTime } from '@hedgerow/ui/relative-time.tsx'
import type { StoredDetection } from '@hedgerow/contract'
import type { WithList } from './facts.tsx'
import { useAcknowledge, useAlertsOf } from './queries.ts'
import styles from './threats.module.css'

export function Summary({ incident, shown }: { incident: WithList; shown: StoredDetection | undefined }) {
  const { gatewayId, gatewayName, location, startedAt } = incident
  const timeZone = useKnownGateway(gatewayId)?.timeZone ?? null
  const place = [shown?.camera ?? incident.camera, shown?.zone, gatewayName, location]
  return (
    <div className={styles.summary}>
      <p>{place.filter((part) => part !== undefined && part !== '').join(' · ')}</p>
      <p>
        <SiteTime at={startedAt} timeZone={timeZone} />
      </p>
      <ul className={styles.lines} aria-label="What was done">
        {deedLines(incident).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  )
}

/** The protection of its gateway now, and the alerts about it that nobody has acknowledged. */
export function Defence({ incident: { id, gatewayId, camera } }: { incident: WithList }) {
  const gateway = useKnownGateway(gatewayId)
  const open = (useAlertsOf(id).data ?? []).filter(
    ({ acknowledged, clearedAt }) => acknowledged === null && clearedAt === null,
  )
  const acknowledge = useAcknowledge()
  return (
    <div className={styles.defence}>
      {open.length > 0 && (
        <Button fullWidth loading={acknowledge.isPending} onClick={() => acknowledge.mutate(open.map((one) => one.id))}>
          Acknowledge
        </Button>
      )}
      {acknowledge.isError && <Notice tone="warning">{messageOf(acknowledge.error)}</Notice>}
      {gateway?.kind === 'enrolled' && (
        <>
          <ProtectionChip protection={gateway.protection} timeZone={gateway.timeZone} isFull />
          <ProtectionControls gateway={{ ...gateway, camera }} />
        </>
      )}
    </div>
  )
}
