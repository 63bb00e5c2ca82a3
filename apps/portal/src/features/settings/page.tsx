/**
 * The hub's settings. Everyone signed in sees them, administrators change them. Certificates and the audit log have
 * their own tabs. The address holds the tab.
 */
import { Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { useSearchParams } from 'react-router'
import { useHubSettings } from '#api/hub-settings.ts'
import { useUser } from '#api/session.tsx'
import { PageHead } from '@hedgerow/ui/page-head.tsx'
import { PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { HelpLink } from '#parts/help-link.tsx'
import { Certificates } from './certificates.tsx'
import { SettingsForm } from './settings-form.tsx'
import styles from './page.module.css'

/** Each tab's name, words and page of help. */
const TABS = [
  ['general', 'General', 'configuration'],
  ['security', 'Security', 'security'],
  ['network', 'Network', 'install#what-must-reach-it'],
  ['certificates', 'Certificates', 'tls'],
  ['audit', 'Audit', 'configuration#the-log'],
] as const

/** `audit` is the content of that tab. */
export function SettingsPage({ audit }: { audit: ReactNode }) {
  const { role } = useUser()
  const settings = useHubSettings()
  const [parameters, setParameters] = useSearchParams()
  const [tab, , help] = TABS.find(([name]) => name === parameters.get('tab')) ?? TABS[0]
  const show = (wanted: string | null) =>
    setParameters(wanted === null || wanted === 'general' ? {} : { tab: wanted }, { replace: true })
  const isForm = tab !== 'certificates' && tab !== 'audit'
  return (
    <>
      <PageHead
        title="Settings"
        lead="Settings of the whole hub, for everyone on it."
        actions={<HelpLink to={help} />}
      />
      <Tabs value={tab} onChange={show} keepMounted={false} className={styles.tabs}>
        <Tabs.List aria-label="Settings" className={styles.list}>
          {TABS.map(([name, words]) => (
            <Tabs.Tab key={name} value={name}>
              {words}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {settings.data !== undefined ? (
          <SettingsForm settings={settings.data} mayChange={role === 'admin'} hidden={!isForm} onTab={show} />
        ) : (
          isForm && (
            <Tabs.Panel value={tab}>
              <Panel title="Settings">{<PanelWaiting query={settings} rows={8} label="Loading the settings" />}</Panel>
            </Tabs.Panel>
          )
        )}
        <Tabs.Panel value="certificates">
          <Certificates mayRenew={role === 'admin'} />
        </Tabs.Panel>
        <Tabs.Panel value="audit">{audit}</Tabs.Panel>
      </Tabs>
    </>
  )
}
