/**
 * Auto-Approval Settings: the rules that approve devices without a person. Managers see and test them, administrators
 * change them. The test box uses the function with which the hub decides.
 */
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'
import { isForbidden } from '#api/client.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelForbidden, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { loadFailed } from './messages.ts'
import { SettingsForm } from './settings-form.tsx'
import { TestBox } from './test-box.tsx'
import styles from './page.module.css'

export function AutoApprovalPage() {
  const { role } = useUser()
  const settings = useAutoApprovalSettings(mayManageFleet(role))
  const forbidden = !mayManageFleet(role) || isForbidden(settings.error)
  return (
    <>
      <PageHead
        title="Auto-Approval Settings"
        lead="Devices that these rules approve join the VPN at once, without waiting under Approvals."
        actions={
          <Button component={Link} to="/gateway-approvals" variant="default">
            Back to Approvals
          </Button>
        }
      />
      {settings.data !== undefined && !forbidden ? (
        <div className={styles.columns}>
          <SettingsForm saved={settings.data} mayChange={role === 'admin'} />
          <Panel title="Test an address">
            <TestBox />
          </Panel>
        </div>
      ) : (
        <Panel title="Rules">
          {forbidden ? (
            <PanelForbidden>Managers and administrators see the rules; administrators change them.</PanelForbidden>
          ) : (
            <PanelWaiting query={settings} rows={8} label="Loading the settings" describe={loadFailed} />
          )}
        </Panel>
      )}
    </>
  )
}
