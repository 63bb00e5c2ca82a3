import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { useAutoApprovalSettings } from '#api/auto-approval.ts'
import { useHubSettings } from '#api/hub-settings.ts'
import { useUser } from '#api/session.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { firstSteps } from './first-steps.ts'
import styles from './page.module.css'

const HIDDEN_KEY = 'hubFirstStepsHidden'

export const areStepsHidden = () => localStorage.getItem(HIDDEN_KEY) !== null

/** The first steps on a new hub, for administrators, until they are done or hidden in this browser. */
export function FirstSteps({ gateways, users }: { gateways: number; users: number }) {
  const isAdmin = useUser().role === 'admin'
  const [hidden, setHidden] = useState(areStepsHidden)
  const settings = useHubSettings().data
  const rules = useAutoApprovalSettings(isAdmin && !hidden).data
  if (!isAdmin || hidden || settings === undefined || rules === undefined) return null
  const { hubName } = settings
  const steps = firstSteps({ gateways, users, hubName, notificationEmail: rules.notificationEmail })
  if (steps.length === 0) return null
  const hide = () => {
    localStorage.setItem(HIDDEN_KEY, 'yes')
    setHidden(true)
  }
  return (
    <Panel
      title="First steps"
      actions={
        <Button size="compact-sm" variant="subtle" onClick={hide}>
          Hide
        </Button>
      }
    >
      <ol className={styles.steps}>
        {steps.map(({ name, path, done }) => (
          <li key={path}>
            <Link to={path}>{name}</Link>
            <StatusMark shape={done ? 'dot' : 'ring'} word={done ? 'Done' : 'To do'} />
          </li>
        ))}
      </ol>
    </Panel>
  )
}
