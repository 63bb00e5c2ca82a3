/** The signed-in person's account: name, password, two-factor, sessions and tokens. */
import { useUser } from '#api/session.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { AboutForm } from './about-form.tsx'
import { Alerts } from './alerts.tsx'
import { PasswordForm } from './password-form.tsx'
import { useProfile } from './queries.ts'
import { ProviderLinks } from './provider-links.tsx'
import { Sessions } from './sessions.tsx'
import { Tokens } from './tokens.tsx'
import { TwoFactor } from './two-factor.tsx'
import styles from './page.module.css'

export function ProfilePage() {
  const { username } = useUser()
  const profile = useProfile()
  const hasPassword = profile.data?.hasPassword !== false
  return (
    <>
      <PageHead title="Profile" lead={`Signed in as ${username}.`} />
      <div className={styles.columns}>
        <div className={styles.column}>
          <Panel title="About you">
            {profile.data !== undefined ? (
              <AboutForm saved={profile.data} />
            ) : (
              <PanelWaiting query={profile} rows={6} label="Loading your profile" />
            )}
          </Panel>
          {hasPassword && (
            <Panel id="two-factor" title="Two-factor sign-in">
              {profile.data !== undefined ? (
                <TwoFactor profile={profile.data} />
              ) : (
                <PanelWaiting query={profile} rows={2} label="Loading two-factor" />
              )}
            </Panel>
          )}
        </div>
        <Panel id="password" title="Password">
          {hasPassword ? (
            <PasswordForm />
          ) : (
            <div className={styles.form}>
              You have no password: a provider signs you in. An administrator can give you one.
            </div>
          )}
        </Panel>
      </div>
      <ProviderLinks />
      <Alerts />
      <Panel id="sessions" title="Signed-in sessions">
        <Sessions />
      </Panel>
      <Tokens hasPassword={hasPassword} />
    </>
  )
}
