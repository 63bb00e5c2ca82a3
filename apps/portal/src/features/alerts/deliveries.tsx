/** The log of outgoing messages: one line for each message and channel. */
import type { Delivery } from '@hedgerow/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import { messageOf } from '#api/client.ts'
import { Choice } from '@hedgerow/ui/choice.tsx'
import { ActionsCell, Cell, DataTable, Row, RowText, type Column } from '@hedgerow/ui/data-table.tsx'
import { Notice } from '@hedgerow/ui/notice.tsx'
import { PanelEmpty, PanelWaiting } from '@hedgerow/ui/panel-states.tsx'
import { Panel } from '@hedgerow/ui/panel.tsx'
import { ReasonedButton } from '@hedgerow/ui/reasoned-button.tsx'
import { RelativeTime } from '@hedgerow/ui/relative-time.tsx'
import { StatusMark } from '@hedgerow/ui/status-mark.tsx'
import { CHANNEL_NAMES } from '@hedgerow/contract/constants'
import { isAlertChannel } from './channels.tsx'
import { useChannels, useDeliveries, useSendAgain } from './queries.ts'
import styles from './alerts.module.css'

const COLUMNS: readonly Column[] = [
  { name: 'Message' },
  { name: 'Channel', width: '16%' },
  { name: 'When', width: '12%' },
  { name: 'State', width: '28%' },
  { name: 'Actions', width: '140px' },
]

const ALL = ''
const STATES: readonly (readonly [Delivery['state'] | typeof ALL, string])[] = [
  [ALL, 'Every state'],
  ['failed', 'Given up'],
  ['waiting', 'Waiting'],
  ['sent', 'Sent'],
]

export function Deliveries({ maySendAgain }: { maySendAgain: string | undefined }) {
  const [state, setState] = useState<(typeof STATES)[number][0]>(ALL)
  const [channel, setChannel] = useState<string>(ALL)
  const log = useDeliveries({ ...(state !== ALL && { state }), ...(channel !== ALL && { channel }) })
  const again = useSendAgain()
  // The portal's own notices are not in the log.
  const names = Object.keys(useChannels(true).data?.channels ?? {}).filter(
    (name) => name !== 'portal' && isAlertChannel(name),
  )
  const channels = [
    [ALL, 'Every channel'],
    ...names.map((name) => [name, CHANNEL_NAMES[name] ?? name] as const),
  ] as const
  const deliveries = log.data?.pages.flatMap((page) => page.deliveries) ?? []
  const isFiltered = state !== ALL || channel !== ALL
  return (
    <Panel title="Deliveries">
      <div className={styles.filter}>
        <Choice label="Filter by channel" value={channel} options={channels} onChange={setChannel} />
        <Choice label="Filter by state" value={state} options={STATES} onChange={setState} />
      </div>
      {again.isError && <Notice tone="warning">{messageOf(again.error)}</Notice>}
      {log.data === undefined ? (
        <PanelWaiting query={log} rows={3} label="Loading deliveries" />
      ) : deliveries.length === 0 ? (
        <PanelEmpty title={isFiltered ? 'No message matches' : 'No messages yet'}>
          {isFiltered ? 'Choose every channel and every state.' : 'Messages that leave the hub are listed here.'}
        </PanelEmpty>
      ) : (
        <DataTable label="Deliveries" columns={COLUMNS} rowCount={deliveries.length} narrow="lines">
          {deliveries.map((delivery, index) => (
            <Row key={delivery.id} index={index} restOf={delivery.title}>
              <Cell label="Message" place="title">
                <RowText>
                  {delivery.path === null ? delivery.title : <Link to={delivery.path}>{delivery.title}</Link>}
                </RowText>
              </Cell>
              <Cell label="Channel">
                {CHANNEL_NAMES[delivery.channel] ?? delivery.channel}
                {delivery.person !== null && ` to ${delivery.person}`}
              </Cell>
              <Cell label="When" place="beside">
                <RelativeTime at={delivery.attemptedAt ?? delivery.createdAt} />
              </Cell>
              <Cell label="State" place="line">
                <State delivery={delivery} />
              </Cell>
              <ActionsCell rare>
                {mayGoAgain(delivery) && (
                  <ReasonedButton
                    size="compact-sm"
                    variant="default"
                    reason={maySendAgain}
                    aria-label={`Send again: ${delivery.title}`}
                    loading={again.isPending && again.variables === delivery.id}
                    onClick={() => again.mutate(delivery.id)}
                  >
                    Send again
                  </ReasonedButton>
                )}
              </ActionsCell>
            </Row>
          ))}
        </DataTable>
      )}
      {log.hasNextPage && (
        <div className={styles.more}>
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            Show older messages
          </Button>
        </div>
      )}
    </Panel>
  )
}

/** The hub's own condition: not while it is being sent, and not before its first attempt. */
function mayGoAgain({ state, attempts }: Delivery): boolean {
  return state === 'sent' || state === 'failed' || (state === 'waiting' && attempts > 0)
}

function State({ delivery: { state, attempts, nextAttemptAt, error } }: { delivery: Delivery }) {
  if (state === 'sent') return <StatusMark shape="dot" word="Sent" />
  if (state === 'sending') return <StatusMark shape="ring" word="Being sent" />
  if (state === 'failed')
    return <StatusMark shape="diamond" word="Given up" {...(error !== null && { reason: error })} />
  const next = nextAttemptAt === null ? '' : `Due at ${new Date(nextAttemptAt).toLocaleTimeString()}`
  const tries = `${attempts} ${attempts === 1 ? 'try' : 'tries'}`
  const reason = [error, attempts > 0 && tries, next].filter(Boolean).join(' · ')
  return <StatusMark shape={error === null ? 'ring' : 'diamond'} word="Waiting" reason={reason} />
}
