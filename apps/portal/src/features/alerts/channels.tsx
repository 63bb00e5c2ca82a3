import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { CHANNEL_NAMES } from '#parts/channel-names.ts'
import { useChannels, useTest } from './queries.ts'
import styles from './alerts.module.css'

/** The channels that work for each person without any setup in the hub. */
const OWN: Readonly<Record<string, string>> = {
  portal: 'The bell of the portal',
  push: 'Browsers that people add in their profile',
}

/** Mail to one person about their account is no channel of alerts. */
export const isAlertChannel = (name: string) => name !== 'person'

/** The channels by which this hub can reach people, and whether they work. */
export function Channels({ mayTest }: { mayTest: string | undefined }) {
  const channels = useChannels(true)
  const test = useTest()
  const names = Object.entries(channels.data?.channels ?? {}).filter(([name]) => isAlertChannel(name))
  const isAnySet = names.some(([name, isSet]) => isSet && !(name in OWN))
  return (
    <Panel title="Channels">
      {test.isError && <Notice tone="warning">{messageOf(test.error)}</Notice>}
      {channels.data !== undefined && !isAnySet && (
        <PanelEmpty title="People get messages in the portal, and on devices that they add in their profile">
          <Link to="/profile#alerts">Get messages on this device</Link>. Mail, ntfy, Telegram and others are set up in
          the hub’s environment: <Link to="/help/alerts">how</Link>.
        </PanelEmpty>
      )}
      {channels.data !== undefined && (
        <ul className={styles.channels}>
          {names.map(([name, isSet]) => {
            const result = test.data?.channels[name]
            const last = channels.data.last[name]
            const problem = channels.data.problems[name]
            const failure = isSet ? (last?.error ?? undefined) : undefined
            const reason = result?.message ?? problem ?? failure ?? OWN[name] ?? (isSet ? 'Set up' : 'Not set up')
            const hasFailed = problem !== undefined || (result ? result.status === 'failed' : failure !== undefined)
            return (
              <li key={name}>
                <StatusMark
                  shape={!isSet ? 'neutral' : hasFailed ? 'diamond' : 'dot'}
                  word={CHANNEL_NAMES[name] ?? name}
                  reason={reason}
                />
                {isSet && name !== 'push' && (
                  <ReasonedButton
                    size="compact-sm"
                    variant="default"
                    reason={mayTest}
                    aria-label={`Send test: ${CHANNEL_NAMES[name] ?? name}`}
                    loading={test.isPending && test.variables === name}
                    onClick={() => test.mutate(name)}
                  >
                    Send test
                  </ReasonedButton>
                )}
                {isSet && name === 'push' && (
                  <p className={styles.last}>
                    <Link to="/profile#alerts">Send a test to your browsers</Link>
                  </p>
                )}
                {isSet && last !== undefined && (
                  <p className={styles.last}>
                    {failure === undefined ? 'Last message sent:' : failure === reason ? 'Last attempt:' : failure}{' '}
                    <RelativeTime at={last.at} />
                  </p>
                )}
              </li>
            )
          })}
        </ul>
      )}
      {(channels.data?.failed ?? 0) > 0 && (
        <Notice tone="warning">{channels.data?.failed} messages could not be delivered.</Notice>
      )}
    </Panel>
  )
}
