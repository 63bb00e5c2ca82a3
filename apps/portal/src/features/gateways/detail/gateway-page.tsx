/**
 * A gateway's page: what its cameras saw first, then its deterrents and cameras, health and connection, and who opened
 * it. It has the actions of the list too.
 */
import type { Gateway, GatewayDetail } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { lazy, Suspense, useCallback, useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'
import { ApiError, messageOf } from '#api/client.ts'
import { useDraft } from '#api/drafts.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { GatewayState } from '#parts/gateway-state.tsx'
import { ProtectionControls } from '#parts/protection-controls.tsx'
import { ArrowIcon } from '@hedgerow/ui/icons.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelEmpty, PanelError, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { About } from './about.tsx'
import { Access } from './access.tsx'
import { Deterrents } from './deterrents.tsx'
import { Detections } from './detections.tsx'
import type { GatewayVerb, OpenDialog } from '../dialogs/dialogs.tsx'
import { GatewayMenu } from '../gateway-menu.tsx'
import { Learning } from './learning.tsx'
import { Reviews } from './reviews.tsx'
import { Cameras, Health } from './health.tsx'
import { History } from './history.tsx'
import { Timeline } from './timeline.tsx'
import { Conditions } from './conditions.tsx'
import { useGateway } from '../queries.ts'
import styles from './gateway-page.module.css'

const Dialogs = lazy(() => import('../dialogs/dialogs.tsx'))

export function GatewayPage() {
  const id = useParams()['id'] ?? ''
  const gateway = useGateway(id)
  const unknown = gateway.error instanceof ApiError && [400, 404].includes(gateway.error.status)
  if (gateway.data !== undefined && !unknown) {
    return <OneGateway gateway={gateway.data} stale={gateway.isError ? messageOf(gateway.error) : undefined} />
  }
  return (
    <>
      <PageHead title={unknown ? 'No such gateway' : 'Gateway'} />
      <Panel title="Gateway">
        {gateway.isPending ? (
          <PanelSkeleton rows={8} label="Loading the gateway" />
        ) : unknown ? (
          <PanelEmpty title="This gateway does not exist, or you may not see it.">
            It may have been deleted. <Link to="/gateways">Back to the gateways</Link>
          </PanelEmpty>
        ) : (
          <PanelError
            message={messageOf(gateway.error)}
            retrying={gateway.isFetching}
            onRetry={() => void gateway.refetch()}
          />
        )}
      </Panel>
    </>
  )
}

function OneGateway({ gateway, stale }: { gateway: GatewayDetail; stale: string | undefined }) {
  const mayManage = mayManageFleet(useUser().role)
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog | null>(null)
  useDraft(`gateways.${gateway.id}`, dialog === null || dialog.verb === 'connect' ? undefined : dialog, setDialog)
  const openVerb = useCallback((verb: GatewayVerb, one: Gateway) => setDialog({ verb, gateway: one }), [])
  return (
    <>
      <div className={styles.top}>
        <Link to="/gateways" className={styles.back}>
          <ArrowIcon /> Gateways
        </Link>
        <PageHead
          title={gateway.name}
          lead={<GatewayState gateway={gateway} />}
          actions={
            <>
              <Button onClick={() => openVerb('connect', gateway)}>Connect</Button>
              <GatewayMenu gateway={gateway} mayManage={mayManage} onVerb={openVerb} tall />
            </>
          }
        />
      </div>
      {gateway.kind === 'enrolled' && <ProtectionControls gateway={gateway} />}
      {stale !== undefined && (
        <Notice tone="warning">This page could not be refreshed and may be outdated: {stale}</Notice>
      )}
      {gateway.refused !== null && <Notice tone="warning">{gateway.refused.message}.</Notice>}
      <Panel
        title="Latest detections"
        actions={
          <Link className={styles.all} to={`/threats?gateway=${gateway.id}`}>
            All in Threats
          </Link>
        }
      >
        <Detections gateway={gateway} />
      </Panel>
      <div className={styles.columns}>
        <div className={styles.column}>
          <div className={styles.early}>
            {gateway.kind === 'enrolled' && (
              <Panel title="Deterrents">
                <Deterrents gateway={gateway} />
              </Panel>
            )}
            {gateway.heartbeat !== null && (
              <Panel title="Cameras">
                <Cameras cameras={gateway.heartbeat.cameras} />
              </Panel>
            )}
          </div>
          <Panel title="Reviews">
            <Reviews gateway={gateway} />
          </Panel>
          {gateway.kind === 'enrolled' && (
            <Panel title="Learning">
              <Learning gateway={gateway} />
            </Panel>
          )}
          <Panel title="Health">
            <Health gateway={gateway} />
          </Panel>
          <Panel title="Load and traffic (Last 24 Hours)">
            <History gateway={gateway} />
          </Panel>
        </div>
        <div className={styles.column}>
          <Panel title="Connection to the hub">
            <Conditions conditions={gateway.ladder} />
          </Panel>
          <Panel title="About">
            <About gateway={gateway} />
          </Panel>
          <div className={styles.early}>
            <Timeline gateway={gateway} />
          </div>
          <Panel title="Who connected">
            <Access access={gateway.access} maySee={mayManage} />
          </Panel>
        </div>
      </div>
      <Suspense>
        {dialog !== null && (
          <Dialogs
            dialog={dialog}
            onGone={() => setDialog(null)}
            onDeleted={() => void navigate('/gateways', { replace: true })}
          />
        )}
      </Suspense>
    </>
  )
}
