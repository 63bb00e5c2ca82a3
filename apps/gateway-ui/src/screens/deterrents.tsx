/** Deterrents: their state and remaining budget, and the ledger of all firings and refusals. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { ledgerLine } from '@hedgerow/contract'
import type { DeviceStatus } from '@hedgerow/contract/device-interface'
import { Dialog, DialogActions, useDialogLife } from '@hedgerow/ui/dialog.tsx'
import { HoldButton } from '@hedgerow/ui/hold-button.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { messageOf } from '../calls.ts'
import { ChangeDialog } from '../parts/change-dialog.tsx'
import { ProtectionChip } from '../parts/protection-chip.tsx'
import { UndoBar } from '../parts/undo-bar.tsx'
import { useLedger, useOrder, useStatus } from '../queries.ts'
import { useVisitor } from '../session.ts'
import { useSettings, type Settings } from '../settings.ts'
import { groupIn, listIn } from '../written.ts'
import styles from './deterrents.module.css'

export function DeterrentsScreen() {
  const query = useStatus()
  const status = query.data
  const { mayManage } = useVisitor()
  return (
    <>
      <PageHead
        title="Deterrents"
        place={status?.name ?? 'Gateway'}
        lead="What this gateway can switch."
        actions={
          mayManage && (
            <Button variant="default" component={Link} to="/add-deterrent">
              Add a sprinkler
            </Button>
          )
        }
      />
      <UndoBar />
      {status === undefined ? (
        <PanelWaiting query={query} rows={4} label="Loading deterrents" />
      ) : status.deterrents.length === 0 ? (
        <PanelEmpty title="No deterrents">Add a sprinkler, a siren or a light.</PanelEmpty>
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
  const settings = useSettings(mayManage).data
  const written = settings && groupIn(settings.settings, 'deterrents')
  const [deleted, setDeleted] = useState<string>()
  return (
    <>
      {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
      {deleted !== undefined && settings !== undefined && (
        <DeleteDeterrent name={deleted} settings={settings} onGone={() => setDeleted(undefined)} />
      )}
      <ul className={styles.list} aria-label="Deterrents">
        {deterrents.map((deterrent) => {
          const { name, driver, until = null, secondsLeftThisHour } = deterrent
          return (
            <li key={name} className={styles.deterrent}>
              <div className={styles.head}>
                <strong>{name}</strong>
                <ProtectionChip
                  heartbeat={{
                    ...status,
                    snoozes: status.snoozes?.filter(({ camera }) => camera === null),
                    deterrents: [deterrent],
                  }}
                />
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
                {written !== undefined && Object.hasOwn(written, name) && (
                  <>
                    <Button
                      variant="default"
                      size="sm"
                      component={Link}
                      to={`/deterrents/${encodeURIComponent(name)}`}
                      aria-label={`Edit ${name}`}
                    >
                      Edit
                    </Button>
                    <Button variant="default" size="sm" aria-label={`Delete ${name}`} onClick={() => setDeleted(name)}>
                      Delete
                    </Button>
                  </>
                )}
              </div>
            </li>
          )
        })}
      </ul>
    </>
  )
}

type DeleteProps = { name: string; settings: Settings; onGone: () => void }

/** A deterrent that a rule fires stays: a rule without it would be an error of the file. */
function DeleteDeterrent({ name, settings: { settings, hash }, onGone }: DeleteProps) {
  const rules = listIn(settings, 'rules') as { name?: unknown; fire?: unknown }[]
  const using = rules.filter(({ fire }) => Array.isArray(fire) && fire.includes(name)).map((rule) => String(rule.name))
  const life = useDialogLife(onGone)
  if (using.length === 0)
    return (
      <ChangeDialog
        title={`Delete ${name}`}
        words="It is stopped, and nothing can fire it any more. The device itself stays as it is."
        verb="Delete"
        edits={[{ path: ['deterrents', name] }]}
        hash={hash}
        onGone={onGone}
      />
    )
  return (
    <Dialog title={`${name} is in use`} size="sm" {...life}>
      <p>
        {using.length === 1 ? 'The rule' : 'The rules'} {using.join(', ')} {using.length === 1 ? 'fires' : 'fire'} it.
        Change or delete {using.length === 1 ? 'it' : 'them'} first.
      </p>
      <DialogActions onCancel={life.onClose}>
        <Button component={Link} to="/rules">
          Rules
        </Button>
      </DialogActions>
    </Dialog>
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
