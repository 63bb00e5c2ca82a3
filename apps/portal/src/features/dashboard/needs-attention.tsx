import { useMemo } from 'react'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { statusMark, useGateways } from '#api/gateways.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelError, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { allOnline } from './messages.ts'
import { useHubProblems } from './queries.ts'
import { findTroubles } from './troubles.ts'
import styles from './page.module.css'

const SHOWN = 5

/** What is wrong now: the gateways in warning or offline, each with the reason. */
export function NeedsAttention() {
  const gateways = useGateways()
  const troubles = useMemo(() => findTroubles(gateways.data ?? []), [gateways.data])
  const problems = useHubProblems().data ?? []
  const total = gateways.data?.length ?? 0
  return (
    <Panel
      title="Needs attention"
      actions={
        troubles.length > SHOWN && (
          <Link to="/gateways?sort=status" className={styles.all}>
            All {troubles.length.toLocaleString()}
          </Link>
        )
      }
    >
      {problems.map(({ part, message }) => (
        <Notice key={part} tone="danger">
          {message}
        </Notice>
      ))}
      {gateways.isPending ? (
        <PanelSkeleton rows={2} label="Loading what needs attention" />
      ) : gateways.data === undefined ? (
        <PanelError
          message={messageOf(gateways.error)}
          retrying={gateways.isFetching}
          onRetry={() => void gateways.refetch()}
        />
      ) : total === 0 ? (
        <p className={styles.well}>
          No gateways yet. <Link to="/gateways">See how to add the first one</Link>
        </p>
      ) : troubles.length === 0 ? (
        <p className={styles.well}>{allOnline(total)}</p>
      ) : (
        <ul className={styles.troubles}>
          {troubles.slice(0, SHOWN).map(({ id, name, status, statusReason }) => (
            <li key={id}>
              <Link to={`/gateways/${id}`}>{name}</Link>
              <StatusMark {...statusMark(status)} />
              <span>{statusReason}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
