import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import { OWN, stateOf } from './channel-state.ts'
import { useChannels, useTest } from './queries.ts'
import styles from './alerts.module.css'

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
            const last = channels.data.last[name]
            const tested = test.data?.channels[name]
            const { shape, reason, failure } = stateOf(name, {
              isSet,
              last,
              tested,
              problem: channels.data.problems[name],
            })
            return (
              <li key={name}>
                <StatusMark shape={shape} word={CHANNEL_NAMES[name] ?? name} reason={reason} />
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
