/** Deterrents: their state and remaining budget, and the ledger of all firings and refusals. */
import { Button } from '@mantine/core'
import { ledgerLine } from '@hedgerow/contract'
import type { DeviceStatus } from '@hedgerow/contract/device-interface'
import { HoldButton } from '@hedgerow/ui/hold-button.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { messageOf } from '../calls.ts'
import { ProtectionChip } from '../parts/protection-chip.tsx'
import { useLedger, useOrder, useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import styles from './deterrents.module.css'

export function DeterrentsScreen() {
  const query = useStatus()
  const status = query.data
  return (
    <>
      <PageHead title="Deterrents" place={status?.name ?? 'Gateway'} lead="What this gateway can switch." />
      {status === undefined ? (
        <PanelWaiting query={query} rows={4} label="Loading deterrents" />
      ) : status.deterrents.length === 0 ? (
        <PanelEmpty title="No deterrents">Deterrents that the configuration names appear here.</PanelEmpty>
      ) : (
        <Deterrents status={status} />
      )}
      <Ledger />
    </>
  )
}

function Deterrents({ status }: { status: DeviceStatus }) {
  const { armed, deterrents } = status
  const { mayManage } = useVisitor()
  const { mutate, error, isPending } = useOrder()
  return (
    <>
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      <ul className={styles.list} aria-label="Deterrents">
        {deterrents.map((deterrent) => {
          const { name, driver, until = null, secondsLeftThisHour } = deterrent
          return (
            <li key={name} className={styles.deterrent}>
              <div className={styles.head}>
                <strong>{name}</strong>
                <ProtectionChip heartbeat={{ ...status, deterrents: [deterrent] }} />
              </div>
              <p>
                {driver}
                {secondsLeftThisHour !== undefined && `, ${Math.floor(secondsLeftThisHour)} s left this hour`}
                {until !== null && `, off at ${new Date(until).toLocaleTimeString()}`}
              </p>
              <div className={styles.buttons}>
                {mayManage && (
                  <HoldButton disabled={isPending || !armed} onHeld={() => mutate({ action: 'fire', deterrent: name })}>
                    Hold to test
                  </HoldButton>
                )}
                <Button color="red" size="sm" onClick={() => mutate({ action: 'stop', deterrent: name })}>
                  Stop
                </Button>
              </div>
            </li>
          )
        })}
      </ul>
    </>
  )
}

function Ledger() {
  const query = useLedger()
  const { data } = query
  return (
    <Panel title="Ledger">
      {data === undefined ? (
        <PanelWaiting query={query} rows={4} label="Loading the ledger" />
      ) : data.length === 0 ? (
        <PanelEmpty title="Nothing fired yet" />
      ) : (
        <ul className={styles.ledger} aria-label="Ledger">
          {data.map((entry) => (
            <li key={entry.id}>
              <span>{ledgerLine(entry)}</span>
              <RelativeTime at={new Date(entry.at).toISOString()} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
