import { lazy, Suspense, useEffect, useState } from 'react'
import { Link, useLocation } from 'react-router'
import { Button } from '@mantine/core'
import { messageOf } from '#api/client.ts'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import { MailRecipient } from './mail-recipient.tsx'
import { isSetUp, OWN, stateOf } from './channel-state.ts'
import { useChannels, useChannelSetups, useTest } from './queries.ts'
import styles from './alerts.module.css'

const PANEL = 'channels'

const ChannelDialog = lazy(async () => ({ default: (await import('./channel-dialog.tsx')).ChannelDialog }))

/** Mail to one person about their account is no channel of alerts. */
export const isAlertChannel = (name: string) => name !== 'person'

/**
 * The channels by which this hub can reach people, whether they work, and their settings. `reason` is why the person
 * may not change or test them.
 */
export function Channels({ reason: refusal }: { reason: string | undefined }) {
  const channels = useChannels(true)
  const setups = useChannelSetups(refusal === undefined)
  const [edited, setEdited] = useState<string>()
  const test = useTest()
  const { hash } = useLocation()
  const isAskedFor = channels.data !== undefined && hash === `#${PANEL}`
  useEffect(() => {
    if (isAskedFor) document.getElementById(PANEL)?.scrollIntoView()
  }, [isAskedFor])
  const names = Object.entries(channels.data?.channels ?? {}).filter(([name]) => isAlertChannel(name))
  const isAnySet = names.some(([name, isSet]) => isSet && !(name in OWN))
  const setup = setups.data?.find(({ name }) => name === edited)
  return (
    <Panel id={PANEL} title="Channels">
      {test.isError && <Notice tone="warning">{messageOf(test.error)}</Notice>}
      {channels.data !== undefined && !isAnySet && (
        <PanelEmpty title="People get messages in the portal, and on devices that they add in their profile">
          <Link to="/profile#alerts">Get messages on this device</Link>. Administrators set up mail, ntfy, Telegram and
          others below: <Link to="/help/alerts">how</Link>.
        </PanelEmpty>
      )}
      {channels.data !== undefined && (
        <ul className={styles.channels}>
          {names.map(([name, isSet]) => {
            const last = channels.data.last[name]
            const setup = setups.data?.find((one) => one.name === name)
            const byVariables =
              setup?.setUpBy === null ? [] : (setup?.fields.filter(({ isByVariable }) => isByVariable) ?? [])
            const tested = test.data?.channels[name]
            const { shape, reason, failure } = stateOf(name, {
              isSet,
              last,
              tested,
              problem: setup?.problem ?? channels.data.problems[name],
              isKept: setup !== undefined && isSetUp(setup),
            })
            return (
              <li key={name}>
                <StatusMark shape={shape} word={CHANNEL_NAMES[name] ?? name} reason={reason} />
                <div className={styles.channelActions}>
                  {isSet && name !== 'push' && (
                    <ReasonedButton
                      size="compact-sm"
                      variant="default"
                      reason={refusal}
                      aria-label={`Send test: ${CHANNEL_NAMES[name] ?? name}`}
                      loading={test.isPending && test.variables === name}
                      onClick={() => test.mutate(name)}
                    >
                      Send test
                    </ReasonedButton>
                  )}
                  {setup !== undefined && setup.setUpBy === null && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`${isSetUp(setup) ? 'Edit' : 'Set up'}: ${CHANNEL_NAMES[name] ?? name}`}
                      onClick={() => setEdited(name)}
                    >
                      {isSetUp(setup) ? 'Edit' : 'Set up'}
                    </Button>
                  )}
                </div>
                {name === 'email' && (
                  <p className={styles.last}>
                    <MailRecipient />
                  </p>
                )}
                {byVariables.length > 0 && (
                  <p className={styles.last}>Set by {byVariables.map(({ variable }) => variable).join(', ')}</p>
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
      <Suspense>{setup !== undefined && <ChannelDialog setup={setup} onGone={() => setEdited(undefined)} />}</Suspense>
      {(channels.data?.failed ?? 0) > 0 && (
        <Notice tone="warning">{channels.data?.failed} messages could not be delivered.</Notice>
      )}
    </Panel>
  )
}
