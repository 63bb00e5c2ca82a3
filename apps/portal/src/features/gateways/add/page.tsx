/** Adds gateways: what is there, the shortest way to a gateway on it, and then each step until its first picture. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { MANAGER_NEEDED, mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import { useParameters } from '#parts/parameters.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { UnsavedGuard } from '@hedgerow/ui/unsaved-guard.tsx'
import { VpnConfig } from '../dialogs/vpn-config.tsx'
import styles from './add.module.css'
import { AddForm, type Added } from './form.tsx'
import { Made } from './made.tsx'
import { useArrivals } from './queries.ts'
import { Waiting } from './waiting.tsx'

const INVITATION_ID = /^[a-z2-7]{12}$/

export function AddGatewayPage() {
  const mayManage = mayManageFleet(useUser().role)
  const [parameters, changeParameters] = useParameters()
  const [added, setAdded] = useState<Added | null>(null)
  const of = (parameters.get('of') ?? '').split(',').filter((id) => INVITATION_ID.test(id))
  const arrivals = useArrivals(mayManage ? of : [])
  const show = (next: Added | null) => {
    setAdded(next)
    changeParameters(
      (now) => {
        now.delete('of')
        if (next !== null && 'made' in next) now.set('of', next.made.invitation.id)
        return now
      },
      { replace: true },
    )
  }
  const isNew = added === null && of.length === 0
  return (
    <>
      <PageHead
        title="Add Gateway"
        actions={
          <>
            {mayManage && (
              <Button component={Link} to="/gateway-labels" variant="default">
                Labels for many
              </Button>
            )}
            {isNew ? (
              <Button component={Link} to="/gateways" variant="default">
                Back to the gateways
              </Button>
            ) : (
              <Button variant="default" onClick={() => show(null)}>
                Add another
              </Button>
            )}
          </>
        }
      />
      {!mayManage ? (
        <Panel title="Add Gateway">
          <PanelForbidden>{MANAGER_NEEDED}</PanelForbidden>
        </Panel>
      ) : (
        <>
          {isNew && (
            <Panel title="New gateway">
              <div className={styles.body}>
                <AddForm onAdded={show} />
                <p className={styles.hint}>
                  A device that runs the agent and finds the hub by itself waits under Approvals.{' '}
                  <HelpLink to="install-gateway">All ways to install one</HelpLink>
                </p>
              </div>
            </Panel>
          )}
          {added?.kind === 'wireguard' && (
            <Panel title={`Set up ${added.gateway.name}`}>
              <div className={styles.body}>
                <Notice tone="good">
                  The gateway is added. It is online after its first handshake; then the hub deletes the private key.
                </Notice>
                <VpnConfig gateway={added.gateway} />
              </div>
            </Panel>
          )}
          {added !== null && 'made' in added && <Made {...added} />}
          {of.length > 0 && <Waiting of={of} />}
          <UnsavedGuard
            title="Leave without the code?"
            unsaved={added !== null && 'made' in added && arrivals.data?.length === 0}
          >
            The hub does not show this code again.
          </UnsavedGuard>
        </>
      )}
    </>
  )
}
