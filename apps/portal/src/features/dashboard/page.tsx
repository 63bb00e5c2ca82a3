/**
 * The dashboard: what is not protected, four figures, current problems, the last 24 hours, and recent activity. A
 * failed fetch is told to the console only: the values of the one before stay, or those of a hub where nothing
 * happened. The bar says when the hub does not answer.
 */
import { lazy, Suspense, useMemo } from 'react'
import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'
import { useGateways } from '#api/gateways.ts'
import { useHubSettings } from '#api/hub-settings.ts'
import { usePendingRegistrations } from '#api/pending-registrations.ts'
import { useUser } from '#api/session.tsx'
import { FigureStrip } from '@hedgerow/ui/figure-strip.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { Activity } from './activity.tsx'
import { threatsToday } from './targets.ts'
import { Approvals } from './approvals.tsx'
import { areStepsHidden, FirstSteps } from './first-steps-panel.tsx'
import { threatBanner } from './messages.ts'
import { quietHours, useDashboard, useHubProblems, useLastThreat, useThreatsToday, useTimeline } from './queries.ts'
import { NeedsAttention } from './needs-attention.tsx'
import { LastThreat } from './last-threat.tsx'
import { NotProtected } from './not-protected.tsx'
import styles from './page.module.css'

const NetworkChart = lazy(() => import('./network-chart.tsx'))
const NO_STATS = { totalGateways: 0, activeGateways: 0, totalUsers: 0, threats: 0, firings: 0 }

/** Only for the first answer or failure: a later fetch never shows the loading state again. */
const waits = ({ isLoading, isFetched }: { isLoading: boolean; isFetched: boolean }) => isLoading && !isFetched

export function DashboardPage() {
  const dashboard = useDashboard()
  const timeline = useTimeline()
  const threatsNow = useThreatsToday()
  const threats = threatsNow.data ?? 0
  const quiet = useMemo(() => quietHours(), [])
  const stats = dashboard.data?.stats ?? NO_STATS
  const isAdmin = useUser().role === 'admin'
  const rules = useAutoApprovalSettings(isAdmin && !areStepsHidden())
  // All of them decide what is above the chart: shown one by one, the parts would push each other down.
  const above = [
    dashboard,
    threatsNow,
    useLastThreat(),
    useGateways(),
    useHubProblems(),
    usePendingRegistrations(),
    useHubSettings(),
    rules,
  ]
  if (above.some(waits))
    return (
      <>
        <PageHead title="Dashboard" />
        <PanelSkeleton rows={8} label="Loading the dashboard" />
      </>
    )
  return (
    <>
      <PageHead title="Dashboard" actions={<Approvals />} />
      <NotProtected />
      {threats > 0 && (
        <Notice tone="warning">
          <Link to={threatsToday()} className={styles.banner}>
            {threatBanner(threats)}
          </Link>
        </Notice>
      )}
      <LastThreat />
      <FigureStrip
        label="Hub statistics"
        figures={[
          { label: 'Total Gateways', value: stats.totalGateways, to: '/gateways' },
          { label: 'Active Gateways', value: stats.activeGateways, to: '/gateways?status=active' },
          { label: 'Total Users', value: stats.totalUsers, to: '/users' },
          { label: 'Threats Today', value: threats, tone: 'danger', to: threatsToday() },
        ]}
      />
      <NeedsAttention />
      {dashboard.data !== undefined && <FirstSteps gateways={stats.totalGateways} users={stats.totalUsers} />}
      <div className={styles.columns}>
        <Panel title="Network Activity (Last 24 Hours)">
          <div className={styles.chart}>
            {waits(timeline) ? (
              <PanelSkeleton rows={8} label="Loading the chart" />
            ) : (
              <Suspense fallback={<PanelSkeleton rows={8} label="Loading the chart" />}>
                <NetworkChart hours={timeline.data ?? quiet} />
              </Suspense>
            )}
          </div>
        </Panel>
        <Panel title="Recent Activity">
          <Activity entries={dashboard.data?.activity ?? []} />
        </Panel>
      </div>
    </>
  )
}
