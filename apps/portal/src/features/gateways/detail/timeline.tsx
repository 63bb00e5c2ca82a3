/** What happened to one gateway, in one list: the newest entries, and older ones on request. */
import type { GatewayDetail, HistoryPart } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { messageOf } from '#api/client.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { SiteTime } from '@hedgerow/ui/relative-time.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { useHappened } from '../queries.ts'
import styles from './gateway-page.module.css'

const PARTS: readonly (readonly [HistoryPart | 'all', string])[] = [
  ['all', 'Everything'],
  ['connection', 'Online and offline'],
  ['version', 'Versions'],
  ['approval', 'Approvals and edits'],
  ['deterrents', 'Firings'],
  ['arming', 'Armed and disarmed'],
  ['device', 'Changes at the device'],
]

export function Timeline({ gateway: { id, timeZone } }: { gateway: GatewayDetail }) {
  const [part, setPart] = useState<HistoryPart | 'all'>('all')
  const happened = useHappened(id, part === 'all' ? undefined : part)
  const entries = happened.data?.pages.flatMap((page) => page.entries) ?? []
  return (
    <Panel
      title="What happened"
      actions={<Choice label="Show what happened" value={part} options={PARTS} onChange={setPart} />}
    >
      {happened.data === undefined ? (
        <PanelWaiting query={happened} rows={4} label="Loading what happened" />
      ) : entries.length === 0 ? (
        <PanelEmpty title="Nothing yet" />
      ) : (
        <>
          <ul className={styles.ledger} aria-label="What happened">
            {entries.map(({ id: entry, message, timestamp, type }) => (
              <li key={entry} data-type={type}>
                <span>{message}</span>
                <SiteTime at={timestamp} timeZone={timeZone} />
              </li>
            ))}
          </ul>
          {happened.isFetchNextPageError && <Notice tone="warning">{messageOf(happened.error)}</Notice>}
          {happened.hasNextPage && (
            <Button
              className={styles.older ?? ''}
              size="sm"
              variant="default"
              loading={happened.isFetchingNextPage}
              onClick={() => void happened.fetchNextPage()}
            >
              Show older
            </Button>
          )}
        </>
      )}
    </Panel>
  )
}
