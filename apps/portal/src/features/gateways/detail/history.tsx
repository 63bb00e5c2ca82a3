import type { GatewayDetail } from '@hedgerow/contract'
import { lazy, Suspense } from 'react'
import { PanelEmpty, PanelSkeleton, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { HistoryTable } from './history-table.tsx'
import { useHistory } from '../queries.ts'
import styles from './history.module.css'

const HistoryCharts = lazy(() => import('./history-charts.tsx'))

/** Load and traffic of the last 24 hours: as charts, and hour by hour. */
export function History({ gateway: { id, kind } }: { gateway: GatewayDetail }) {
  const query = useHistory(id)
  const hours = query.data
  if (hours === undefined) return <PanelWaiting query={query} rows={8} label="Loading the history" />
  if (hours.every(({ heartbeats, receivedBytes, sentBytes }) => heartbeats + receivedBytes + sentBytes === 0)) {
    return (
      <PanelEmpty title="Nothing in the last 24 hours">
        {kind === 'wireguard'
          ? 'Traffic through its tunnel is counted here once a minute.'
          : 'Its heartbeats and its tunnel traffic are added up here once a minute.'}
      </PanelEmpty>
    )
  }
  return (
    <>
      <Suspense
        fallback={
          <div className={styles.charts}>
            <PanelSkeleton rows={8} label="Loading the charts" />
          </div>
        }
      >
        <HistoryCharts hours={hours} />
      </Suspense>
      <details className={styles.details}>
        <summary>Hour by hour</summary>
        <HistoryTable hours={hours} />
      </details>
    </>
  )
}
