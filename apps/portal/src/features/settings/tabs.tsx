/** The three tabs that are saved together. */
import { NativeSelect, Switch, Textarea } from '@mantine/core'
import type { Language } from '@hedgerow/contract'
import { Link } from 'react-router'
import { LANGUAGES } from '#api/languages.ts'
import { mayManageFleet } from '#api/roles.ts'
import { useUser } from '#api/session.tsx'
import { Mono } from '@hedgerow/ui/mono.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { duration } from './duration.ts'
import { SwitchField, TextField, type Fields } from './fields.tsx'
import { HomeAssistantStatus } from './home-assistant-status.tsx'
import styles from './page.module.css'

export function GeneralTab({ fields }: { fields: Fields }) {
  const { role } = useUser()
  return (
    <>
      <Panel title="This hub">
        <div className={styles.fields}>
          <TextField fields={fields} name="hubName" label="Hub name" description="Shown in the top bar." />
          <Textarea
            name="hubDescription"
            label="Hub description"
            rows={3}
            disabled={!fields.mayChange}
            value={fields.values.hubDescription}
            error={fields.errors.hubDescription}
            onChange={(event) => fields.set({ hubDescription: event.currentTarget.value })}
          />
          <TextField
            fields={fields}
            name="maxGateways"
            label="Maximum number of gateways"
            description="Approvals above this number are refused."
            numeric
          />
        </div>
      </Panel>
      <Panel title="Records and messages">
        <div className={styles.fields}>
          <SwitchField
            fields={fields}
            name="enableNotifications"
            label="Notifications"
            description="When off, the hub sends no messages, whatever the auto-approval settings say."
          />
          {mayManageFleet(role) && (
            <p>
              <Link to="/alert-rules#channels">Mail, Telegram and other channels</Link>
            </p>
          )}
          <NativeSelect
            name="language"
            label="Language of messages"
            description="Over shared channels where the alert rule has no other, and to people who chose none."
            data={LANGUAGES.map(([value, label]) => ({ value, label }))}
            disabled={!fields.mayChange}
            value={fields.values.language}
            onChange={(event) => fields.set({ language: event.currentTarget.value as Language })}
          />
          <SwitchField
            fields={fields}
            name="enableAuditLog"
            label="Audit log"
            description="Records who did what, from where and when. Changes of these settings are always recorded."
          />
          <TextField
            fields={fields}
            name="logRetentionDays"
            label="Keep records for (days)"
            description="Older activity, detections and audit entries are deleted every day."
            numeric
          />
        </div>
      </Panel>
      <Panel title="Updates of gateways">
        <div className={styles.fields}>
          <SwitchField
            fields={fields}
            name="automaticUpdates"
            label="Automatic updates"
            description={
              'A new release goes to one gateway, then to ten, then to all. A failure stops the update; Versions ' +
              'says why.'
            }
          />
          <TextField
            fields={fields}
            name="automaticUpdateHours"
            label="Hours of automatic updates"
            description="By the hub’s clock: 02:00-05:00, Mon-Fri 02:00-05:00. Empty: always. By hand at any time."
          />
        </div>
      </Panel>
      <Panel title="Detections">
        <div className={styles.fields}>
          <TextField
            fields={fields}
            name="detectionsPerHour"
            label="Detections per gateway and hour"
            description="More are refused and counted on the gateway’s page. The gateway sends them later."
            numeric
          />
          <TextField
            fields={fields}
            name="detectionMegabytesPerHour"
            label="Megabytes of detections per gateway and hour"
            description="Mostly pictures, up to 88 kB each."
            numeric
          />
          <TextField
            fields={fields}
            name="detectionsKept"
            label="Detections kept per gateway"
            description="The oldest are deleted first."
            numeric
          />
          <TextField
            fields={fields}
            name="detectionMegabytesKept"
            label="Megabytes of detections kept in total"
            description="The oldest detections of the gateway with most data are deleted first."
            numeric
          />
        </div>
      </Panel>
    </>
  )
}

export function SecurityTab({ fields }: { fields: Fields }) {
  const { values, saved } = fields
  return (
    <>
      <Panel title="Signing in">
        <div className={styles.fields}>
          <Switch
            label="JWT required"
            description="Every call carries a signed access token. This can’t be switched off."
            checked
            disabled
            readOnly
          />
          <SwitchField
            fields={fields}
            name="passwordComplexity"
            label="Password complexity"
            description="New passwords must also be uncommon and must not contain their owner’s name."
          />
          <SwitchField
            fields={fields}
            name="twoFactorRequired"
            label="Two-factor authentication"
            description="Everyone must set up two-factor sign-in before anything else."
          />
          {values.twoFactorRequired && !saved.twoFactorRequired && (
            <Notice tone="warning">
              Everyone without two-factor, including you, has to set it up as soon as this is saved.
            </Notice>
          )}
          <TextField
            fields={fields}
            name="sessionTimeout"
            label="Session timeout (seconds)"
            description={`People are signed out after this long without input${duration(values.sessionTimeout)}.`}
            numeric
          />
        </div>
      </Panel>
      <Panel title="Registration">
        <div className={styles.fields}>
          <SwitchField
            fields={fields}
            name="openRegistration"
            label="Open registration"
            description={
              'People can create their own account. When off, the Create Account page says that registration is ' +
              'closed.'
            }
          />
          <SwitchField
            fields={fields}
            name="inviteCodeRequired"
            label="Invite code required"
            description="Registration needs the code of an invitation, which administrators create under Users."
          />
          {values.openRegistration && !values.inviteCodeRequired && (
            <Notice tone="warning">
              Anybody who can reach this hub can create an account. It has the role user and sees only the gateways that
              it claims.
            </Notice>
          )}
        </div>
      </Panel>
    </>
  )
}

export function NetworkTab({ fields }: { fields: Fields }) {
  const { values, saved } = fields
  return (
    <>
      <Panel title="VPN">
        <div className={styles.fields}>
          <SwitchField
            fields={fields}
            name="enableVpn"
            label="VPN"
            description="The tunnel between the hub and its gateways."
          />
          {!values.enableVpn && saved.enableVpn && (
            <Notice tone="warning">Saving this disconnects all gateways until the VPN is on again.</Notice>
          )}
          <TextField
            fields={fields}
            name="vpnNetwork"
            label="VPN network"
            description="Gateways get their addresses from it. A new network must contain all addresses in use."
          />
        </div>
      </Panel>
      <Panel title="Opening gateways">
        <div className={styles.fields}>
          <SwitchField
            fields={fields}
            name="directHealthCheck"
            label="Direct health check"
            description={
              'Connect first tries a gateway’s own address at port 8080 for 2 seconds, and uses the hub’s proxy ' +
              'when it does not answer.'
            }
          />
          <p>
            The page of each gateway has its own origin, so it can touch neither the hub nor your session. Where it is a
            port of the hub, over http or https, one risk remains: gateways at ports of one host can see each other’s
            cookies, if scripts may read them. To avoid that, use a wildcard name with a certificate for the gateways:
            start the hub with <Mono>{'HUB_GATEWAY_ORIGIN=https://gw-{id}.example.net'}</Mono>.
          </p>
        </div>
      </Panel>
      <Panel title="Home Assistant">
        <div className={styles.fields}>
          <HomeAssistantStatus />
          <SwitchField
            fields={fields}
            name="homeAssistantCommands"
            label="Commands from Home Assistant"
            description={
              'Everybody who may publish to the hub’s topics on the MQTT broker can then arm, disarm, fire and ' +
              'stop, as a manager can. The audit names Home Assistant.'
            }
          />
        </div>
      </Panel>
    </>
  )
}
