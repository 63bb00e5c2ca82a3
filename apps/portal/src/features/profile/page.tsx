/** The signed-in person's account: name, password, two-factor and sessions. */
import { messageOf } from '#api/client.ts'
import { useUser } from '#api/session.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelError, PanelSkeleton } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { AboutForm } from './about-form.tsx'
import { Alerts } from './alerts.tsx'
import { PasswordForm } from './password-form.tsx'
import { useProfile } from './queries.ts'
import { Sessions } from './sessions.tsx'
import { TwoFactor } from './two-factor.tsx'
import styles from './page.module.css'

export function ProfilePage() {
  const { username } = useUser()
  const profile = useProfile()
  return (
    <>
      <PageHead title="Profile" lead={`Signed in as ${username}.`} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <Panel title="About you">
            {profile.data !== undefined ? (
              <AboutForm saved={profile.data} />
            ) : profile.isPending ? (
              <PanelSkeleton rows={6} label="Loading your profile" />
            ) : (
              <PanelError
                message={messageOf(profile.error)}
                retrying={profile.isFetching}
                onRetry={() => void profile.refetch()}
              />
            )}
          </Panel>
          <Panel title="Two-factor sign-in">
            {profile.data !== undefined ? (
              <TwoFactor profile={profile.data} />
            ) : profile.isPending ? (
              <PanelSkeleton rows={2} label="Loading two-factor" />
            ) : (
              <PanelError
                message={messageOf(profile.error)}
                retrying={profile.isFetching}
                onRetry={() => void profile.refetch()}
              />
            )}
          </Panel>
        </div>
        <Panel title="Password">
          <PasswordForm />
        </Panel>
      </div>
      <Alerts />
      <Panel title="Signed-in sessions">
        <Sessions />
      </Panel>
    </>
  )
}
