/** Labels for many gateways from a file: each has a code of its own, which only this page shows. */
import type { createGatewayLabels, ResponseOf } from '@hedgerow/contract'
import { LABELS_MAX } from '@hedgerow/contract/constants'
import { Button, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { addressForDevices } from '#api/hub-address.ts'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { DEFAULT_LIFETIME_HOURS, LifetimeField } from '#parts/invitation-limits.tsx'
import { RulesNotice } from '#parts/rules-notice.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { QrCode } from '@hedgerow/ui/qr-code.tsx'
import { TickBox } from '@hedgerow/ui/tick-box.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import styles from './add.module.css'
import { useCreateLabels } from './queries.ts'
import { Waiting } from './waiting.tsx'
import { deviceCommand } from './ways.ts'

type Sheet = ResponseOf<typeof createGatewayLabels>

const EXAMPLE = 'name,site,tags,owner\nHen house,Hill farm,hens north,\nGate,Hill farm,,'

export function GatewayLabelsPage() {
  const mayManage = mayManageFleet(useUser().role)
  const [sheet, setSheet] = useState<Sheet | null>(null)
  const [isPrinted, setPrinted] = useState(false)
  const print = () => {
    window.print()
    setPrinted(true)
  }
  return (
    <>
      <PageHead
        title="Gateway Labels"
        lead={sheet === null ? 'A code, a name and a site for each device, to print and stick on it.' : undefined}
        actions={
          sheet === null ? (
            <Button component={Link} to="/add-gateway" variant="default">
              Add one gateway
            </Button>
          ) : (
            <Button onClick={print}>Print</Button>
          )
        }
      />
      {!mayManage ? (
        <Panel title="Labels">
          <PanelForbidden>{MANAGER_NEEDED}</PanelForbidden>
        </Panel>
      ) : sheet === null ? (
        <Panel title="The file">
          <div className={styles.body}>
            <LabelsForm onMade={setSheet} />
          </div>
        </Panel>
      ) : (
        <>
          <Labels sheet={sheet} />
          <Waiting of={sheet.labels.map(({ invitation }) => invitation.id)} />
          <UnsavedGuard title="Leave without the labels?" unsaved={!isPrinted}>
            The labels are not printed yet, and the hub does not show these codes again.
          </UnsavedGuard>
        </>
      )}
    </>
  )
}

function LabelsForm({ onMade }: { onMade: (sheet: Sheet) => void }) {
  const create = useCreateLabels()
  const [csv, setCsv] = useState('')
  const [expiresInHours, setHours] = useState(DEFAULT_LIFETIME_HOURS)
  const [approves, setApproves] = useState(true)
  useDraft('gateways.labels', csv === '' ? undefined : csv, setCsv)
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate({ csv, expiresInHours, approves }, { onSuccess: onMade })
      }}
    >
      {create.isError && <Wrong error={create.error} />}
      <Textarea
        label="Lines of a spreadsheet"
        description={`Name, site, tags, owner: one device a line, at most ${LABELS_MAX}. Commas, semicolons or tabs.`}
        placeholder={EXAMPLE}
        rows={8}
        spellCheck={false}
        value={csv}
        onChange={(event) => setCsv(event.currentTarget.value)}
      />
      <label>
        Or a CSV file{' '}
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv"
          onChange={(event) => void event.currentTarget.files?.[0]?.text().then(setCsv)}
        />
      </label>
      <LifetimeField hours={expiresInHours} onChange={setHours} />
      <TickBox checked={approves} onChange={setApproves}>
        Join without my approval
      </TickBox>
      <div className={styles.buttons}>
        <Button type="submit" loading={create.isPending} disabled={csv.trim() === ''}>
          Make Labels
        </Button>
      </div>
    </form>
  )
}

function Wrong({ error }: { error: Error }) {
  const lines = error instanceof ApiError ? Object.entries(error.fieldErrors) : []
  return (
    <Notice tone="danger">
      {messageOf(error)}
      {lines.length > 0 && (
        <ul className={styles.errors}>
          {lines.map(([line, problem]) => (
            <li key={line}>
              {line[0]?.toUpperCase()}
              {line.slice(1)}: {problem.replace(/^\w+: /, '')}
            </li>
          ))}
        </ul>
      )}
    </Notice>
  )
}

function Labels({ sheet: { labels, hubUrl, hubFingerprint } }: { sheet: Sheet }) {
  const caution = addressForDevices(hubUrl)
  return (
    <Panel title={`${labels.length} ${labels.length === 1 ? 'label' : 'labels'}`}>
      <div className={styles.body}>
        <Notice tone="warning">Print this now: the hub keeps only a hash of each code.</Notice>
        {caution !== undefined && <Notice tone="plain">{caution}</Notice>}
        <RulesNotice />
        <p className={styles.hint}>Each QR code has the line to run on the device.</p>
        <ul className={styles.labels} data-printed-alone>
          {labels.map(({ invitation: { id, name, location, expiresAt }, code, command }) => (
            <li key={id} className={styles.label}>
              <QrCode
                text={deviceCommand({ command, code, hubUrl, hubFingerprint, name })}
                label={`QR code of ${name}`}
              />
              <div>
                <strong>{name}</strong>
                <span>{location}</span>
                <code>{code}</code>
                <small>
                  {hubUrl}, until {new Date(expiresAt).toLocaleDateString()}
                </small>
              </div>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  )
}
