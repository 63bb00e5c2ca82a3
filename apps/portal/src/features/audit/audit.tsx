/** The audit log: who did what, when, from where, and with which result. A tab of the settings. */
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { isForbidden, messageOf } from '#api/client.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { DayField } from '@hedgerow/ui/day-field.tsx'
import { DownloadIcon, SearchIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { saveFile } from '@hedgerow/ui/save-file.ts'
import { ACTIONS, EVERYTHING, type Filter } from './filter.ts'
import { useAudit, useAuditFile } from './queries.ts'
import { AuditTable } from './table.tsx'
import { useSettled } from './use-settled.ts'
import styles from './audit.module.css'

export default function Audit() {
  const maySee = mayManageFleet(useUser().role)
  const [filter, setFilter] = useState(EVERYTHING)
  const settled = useSettled(filter)
  const audit = useAudit(settled, maySee)
  const file = useAuditFile()
  const forbidden = !maySee || isForbidden(audit.error)
  const entries = audit.data?.pages.flatMap((page) => page.entries) ?? []
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change })
  const download = async () => {
    const content = await file.mutateAsync(filter).catch(() => undefined)
    if (content !== undefined) saveFile(content, 'audit.csv')
  }
  return (
    <Panel
      title="Audit log"
      actions={
        !forbidden && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<DownloadIcon />}
            loading={file.isPending}
            onClick={() => void download()}
          >
            Download CSV
          </Button>
        )
      }
    >
      {forbidden ? (
        <PanelForbidden>Managers and administrators see who did what.</PanelForbidden>
      ) : (
        <>
          <div className={styles.filter}>
            <TextInput
              type="search"
              size="sm"
              aria-label="Search the audit log"
              placeholder="Name, action, target, address or reason"
              leftSection={<SearchIcon />}
              value={filter.search}
              onChange={(event) => set({ search: event.currentTarget.value })}
            />
            <Choice
              label="Filter by action"
              value={filter.action}
              options={ACTIONS}
              onChange={(action) => set({ action })}
            />
            <DayField label="From" value={filter.from} onChange={(from) => set({ from })} />
            <DayField label="To" value={filter.to} onChange={(to) => set({ to })} />
          </div>
          {(file.isError || (audit.isError && audit.data !== undefined)) && (
            <div className={styles.problem}>
              <Notice tone="warning">{messageOf(file.error ?? audit.error)}</Notice>
            </div>
          )}
          {audit.data === undefined ? (
            <PanelWaiting query={audit} rows={6} label="Loading the audit log" />
          ) : entries.length === 0 && audit.hasNextPage ? (
            <PanelEmpty title="No entry matches so far">Show older entries, or choose fewer days.</PanelEmpty>
          ) : entries.length === 0 ? (
            <PanelEmpty title={settled === EVERYTHING ? 'Nothing recorded yet' : 'No entry matches'}>
              {settled === EVERYTHING
                ? 'Actions on this hub are listed here, unless the audit log is off under General.'
                : 'Try fewer words or more days.'}
            </PanelEmpty>
          ) : (
            <AuditTable entries={entries} />
          )}
          {audit.hasNextPage && (
            <div className={styles.more}>
              <Button variant="default" loading={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
                Show older entries
              </Button>
            </div>
          )}
        </>
      )}
    </Panel>
  )
}
